"""Faults that a user can mend, collected by file and formatted for messages.

Every reader collects its faults in a `FaultLog`, so that a user sees them all at once, and leaves by
`FaultLog.raise_if_any`. The command line prints `InputError.faults`; nothing else formats them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

MAX_FAULTS_SHOWN = 20
MAX_FAULTS_KEPT = 100_000
"""Largest number of faults kept of a file; each outgrows the line it is about."""


class PrefcalError(Exception):
    """Base of every error a user can mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with the input.

    Attributes
    ----------
    problem : str
        What is wrong, without a full stop.
    cure : str
        How to mend it, without a full stop.
    path : str or None
        The file as the user named it.
    line : int or None
        Line in that file, from 1; for a table its row's line in the CSV.

    Examples
    --------
    >>> str(
    ...     Fault(
    ...         problem="4 fields expected, got 3",
    ...         cure="write topic, 0, document and grade",
    ...         path="qrels.txt",
    ...         line=17,
    ...     )
    ... )
    'qrels.txt:17: 4 fields expected, got 3; write topic, 0, document and grade'
    """

    problem: str
    cure: str
    path: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """Format as one line, ``FILE:LINE: message; hint``, safe for terminals."""
        location = "" if self.path is None else f"{self.path}:{self.line or 1}: "
        return printable(" ".join(f"{location}{self.problem}; {self.cure}".split()))


class InputError(PrefcalError, ValueError):
    """Input that breaks its format; carries every fault found.

    Attributes
    ----------
    faults : tuple of Fault
        In the order in which they stand in the files; never empty.

    Examples
    --------
    >>> import prefcal
    >>> try:
    ...     prefcal.measure("M(patience=-1)")
    ... except InputError as error:
    ...     print(error)
    M(patience=-1): patience must be 0 or more, got -1; see `prefcal measures`
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(format_faults(self.faults)))


def printable(text: str) -> str:
    """Escape unprintable characters, so that input cannot control a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def format_faults(faults: Sequence[Fault]) -> list[str]:
    """Format one line per fault, at most `MAX_FAULTS_SHOWN`, then the number left.

    The number is a lower bound for a file with very many faults.
    """
    lines = [str(fault) for fault in faults[:MAX_FAULTS_SHOWN]]
    if len(faults) > MAX_FAULTS_SHOWN:
        least = "at least " * (len(faults) >= MAX_FAULTS_KEPT)
        lines.append(f"... and {least}{len(faults) - MAX_FAULTS_SHOWN} more")
    return lines


class FaultLog:
    """Faults of one file, collected so that all are reported at once.

    Parameters
    ----------
    path : str or Path
        The file that the faults added here stand in.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.faults: list[Fault] = []
        self._kinds: dict[str, tuple[int, int]] = {}

    def add(self, problem: str, *, line: int | None = None, cure: str, kind: str | None = None) -> None:
        """Add one fault of this file, up to `MAX_FAULTS_KEPT`.

        Later faults of a ``kind`` are only counted.
        """
        if kind is not None and kind in self._kinds:
            place, more = self._kinds[kind]
            self._kinds[kind] = (place, more + 1)
        elif len(self.faults) < MAX_FAULTS_KEPT:
            if kind is not None:
                self._kinds[kind] = (len(self.faults), 0)
            self.faults.append(Fault(problem=problem, cure=cure, path=self.path, line=line))

    def raise_if_any(self) -> None:
        """Raise `InputError` with every fault noted so far, if there is one."""
        for place, more in self._kinds.values():
            if more:
                fault = self.faults[place]
                self.faults[place] = replace(
                    fault, problem=f"{fault.problem} (and {pluralise(more, 'fault')} more of this kind)"
                )
        if self.faults:
            raise InputError(
                sorted(self.faults, key=lambda fault: fault.line or 0) if self._kinds else self.faults
            )


def raise_all(logs: Iterable[FaultLog]) -> None:
    """Raise `InputError` with every fault of several files, ordered by line.

    Faults are grouped by file; without faults it raises nothing.
    """
    faults = [fault for log in logs for fault in sorted(log.faults, key=lambda fault: fault.line or 0)]
    if faults:
        raise InputError(faults)


def input_fault(
    problem: str, *, path: str | Path | None = None, line: int | None = None, cure: str
) -> InputError:
    """Return an `InputError` with a single fault."""
    return InputError(
        [Fault(problem=problem, cure=cure, path=None if path is None else str(path), line=line)]
    )


FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""Pattern of text that a spreadsheet reads as a formula.

It includes the full-width forms that Japanese spreadsheets accept.
"""

_FORMULA_AHEAD = r'(?=[\s"]*[=+\-@＝＋－＠])'
FIRST_FORMULA = re.compile(_FORMULA_AHEAD)
LATER_FORMULA = re.compile(r"([;|\t\r\n\v\f\x85\u2028\u2029])" + _FORMULA_AHEAD)
"""Pattern of a formula after a separator of cells or lines of some spreadsheet."""


def closest_name(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name most like ``name``, or None where none is close.

    Closeness is `difflib`'s ratio, 1 for equal names.
    """
    matches = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return matches[0] if matches else None


def pluralise(number: int, singular: str, plural: str | None = None) -> str:
    """Format a number with its noun, `1 query` or `8 queries`.

    The caller gives any plural that does not end in -s.
    """
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"


def percent(share: float, digits: int = 0) -> str:
    """Format a share in percent, as in ``82 %``."""
    return f"{100 * share:.{digits}f} %"


def join_names(names: Iterable[str], *, most: int = 8) -> str:
    """Join names for a sentence: ``a, b, c and 4 more``."""
    names = list(names)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def escape_spreadsheet_cell(text: str) -> str:
    """Prefix an apostrophe to text that a spreadsheet would compute.

    Also within the text, after what separates cells in some country or program: where that is a semicolon, ``a;=1+1`` is two cells.
    Quotes and spaces before the formula are no help, since spreadsheets drop them.
    """
    quoted = LATER_FORMULA.sub(r"\1'", text)
    return f"'{quoted}" if text.startswith(FORMULA) or FIRST_FORMULA.match(text) else quoted
