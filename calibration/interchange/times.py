"""Columns of times from other tools, in ISO 8601, a given format, or epochs.

Epochs are seconds or milliseconds since 1970. Numbers are recognised only where a whole column can be nothing else, and it is said how they
were read. Local times count in the zone that one names. Nothing depends on the time zone of the machine.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, TypeAlias
from zoneinfo import ZoneInfo, available_timezones

import pandas as pd

from calibration.tables.definition import UNKNOWN_WORDS
from metrics.errors import FaultLog, closest_name, input_fault, pluralise

Times: TypeAlias = "pd.Series[pd.Timestamp]"

EPOCHS = MappingProxyType({"epoch-s": 1000.0, "epoch-ms": 1.0})
"""Milliseconds per unit of an epoch, by word for `time_format`."""
_WORDS = MappingProxyType({"epoch-s": "seconds", "epoch-ms": "milliseconds"})
_NUMBER = re.compile(r"\d+(\.\d+)?")
_COMPACT_DATE = re.compile(r"\d{8}")
_DATE_LENGTH = 10
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{8}|\d{4}-?W\d\d(-?\d)?")
_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
_TIMES_OF_DAY = frozenset("HIMSTXcrR")
_ZONE_WORD = re.compile(r"[A-Za-z]+(?:[/_+-][A-Za-z0-9_]+)*")
_UTC_WORDS = frozenset({"utc", "gmt", "z", "ut"})
_MACHINES_OWN = frozenset({"localtime", "posixrules", "Factory"})
_NEARLY_ALL = 0.9
"""Share of a column's numbers in one unit from which the others are faults."""
_YEAR_2000_MS = 946_684_800_000
_YEAR_2100_MS = 4_102_444_800_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRules:
    """Rules to read cells of times.

    Attributes
    ----------
    time_format : str or None
        One of `EPOCHS`, or as for `datetime.strptime`. None: ISO 8601, or numbers that all lie between the years 2000 and
        2100 in one of `EPOCHS`; in both they cannot.
    time_zone : str or None
        IANA name of the zone of times without one, such as Europe/Berlin. None: UTC, where no time of the file has a
        zone; where some have one, times without a zone are a fault.

    Raises
    ------
    InputError
        If there is no zone of that name.
    """

    time_format: str | None = None
    time_zone: str | None = None
    zone: tzinfo = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Look up the time zone."""
        object.__setattr__(self, "zone", UTC if self.time_zone is None else named_zone(self.time_zone))


class TimeColumns(NamedTuple):
    """Times of some columns, with notes and warnings.

    Attributes
    ----------
    times : dict of str to Series of Timestamp
        Column -> its times in UTC, to the millisecond; missing where nothing is known.
    notes : list of str
        How they were read.
    warnings : list of str
        What is suspicious.
    """

    times: dict[str, Times]
    notes: list[str]
    warnings: list[str]


class _Cell(NamedTuple):
    """Parsed cell: time in UTC, whether it names zone and time of day, and its fault."""

    time: datetime | None = None
    is_zoned: bool = True
    has_hour: bool = True
    problem: str = ""
    cure: str = ""


_EMPTY = _Cell()


@cache
def available_zones() -> frozenset[str]:
    """Return the names of all time zones but the machine's own."""
    return frozenset(available_timezones() - _MACHINES_OWN)


def named_zone(name: str) -> ZoneInfo:
    """Return the IANA time zone of a name.

    It raises `InputError` for an unknown zone, and for the machine's own.
    """
    known = available_zones()
    if name in known:
        return ZoneInfo(name)
    places = {zone.rpartition("/")[2].casefold(): zone for zone in sorted(known)}
    near = places.get(name.rpartition("/")[2].replace(" ", "_").casefold()) or closest_name(name, known)
    cure = f"did you mean {near}" if near else "name it as IANA does, such as Europe/Berlin or UTC"
    raise input_fault(f"{name!r} is not a time zone", cure=cure)


def is_unknown(cells: "pd.Series[str]") -> "pd.Series[bool]":
    """Return which cells are empty, or hold a word for a missing value."""
    return (cells == "") | cells.str.casefold().isin(UNKNOWN_WORDS)


def notes_on_unknown(cells: "pd.Series[str]", column: str) -> list[str]:
    """Return the note on cells of a column that hold a word for a missing value, if any do."""
    words = cells[is_unknown(cells) & (cells != "")]
    return (
        [f"{column}: {pluralise(len(words), 'cell')} {words.iloc[0]!r} read as not known"]
        if len(words)
        else []
    )


def read_times(
    columns: "Mapping[str, pd.Series[str]]", rules: TimeRules, lines: Sequence[int], log: FaultLog
) -> TimeColumns:
    """Read columns of times; note each invalid cell.

    Parameters
    ----------
    columns : mapping of str to Series of str
        Name of a column, for messages -> its cells. An empty cell and one of `calibration.tables.definition.UNKNOWN_WORDS` say that nothing is known.
    rules : TimeRules
        How they are to be read.
    lines : sequence of int
        Line of each row in its file.
    log : FaultLog
        Where faults are noted: cells that are no time, hours that no clock of the zone showed or that it showed twice, and
        times without a zone beside times with one.
    """
    read = TimeColumns({}, [], [])
    cells: dict[str, list[_Cell]] = {}
    for column, texts in columns.items():
        known = texts.mask(is_unknown(texts), "")
        cells[column] = _column(known, column, rules, lines, log, read)
        values = [cell.time for cell in cells[column]]
        times: Times = pd.Series(values, dtype="datetime64[ms, UTC]", index=texts.index)
        read.times[column] = times
        read.notes.extend(notes_on_unknown(texts, column))
        read.warnings.extend(_strange_years(known, times, column, rules.time_format))
        read.warnings.extend(_whole_days(cells[column], column, lines))
    _check_zones(cells, rules, lines, log, read)
    return read


def _column(
    texts: "pd.Series[str]",
    column: str,
    rules: TimeRules,
    lines: Sequence[int],
    log: FaultLog,
    read: TimeColumns,
) -> list[_Cell]:
    """Parse a column's cells, and note its numbers' unit and its faults."""
    is_guess = rules.time_format is None
    given = texts.tolist()
    filled = [text for text in given if text]
    epoch = _unit_of(filled) if is_guess else rules.time_format if rules.time_format in EPOCHS else None
    usual = _unit_of(filled, _NEARLY_ALL) if is_guess and epoch is None else None
    cells = []
    for line, text in zip(lines, given, strict=True):
        if not text:
            cell = _EMPTY
        elif usual and not _in_unit(text, usual):
            problem = f"is not a time like the others, which are {_WORDS[usual]} since 1970"
            cell = _Cell(problem=problem, cure="mend it, and see whether the file is cut")
        elif usual:
            cell = _EMPTY
        else:
            cell = _since_1970(text, epoch) if epoch else _time(text, rules)
        if cell.problem:
            log.add(f"{column} {text!r} {cell.problem}", line=line, cure=cell.cure)
        cells.append(cell)
    known = [cell.time for cell in cells if cell.time is not None]
    if epoch and known:
        read.notes.append(_unit_note(known, column, epoch, is_guess=is_guess))
    return cells


def _unit_of(cells: Sequence[str], share: float = 1.0) -> str | None:
    """Return the unit in which at least a share of cells are numbers of this century, or None."""
    counts = {epoch: sum(_in_unit(cell, epoch) for cell in cells) for epoch in EPOCHS}
    return next((epoch for epoch, count in counts.items() if count and count >= share * len(cells)), None)


def _in_unit(cell: str, epoch: str) -> bool:
    """Return whether a cell is a number of a unit, and of this century."""
    return (
        _NUMBER.fullmatch(cell) is not None and _YEAR_2000_MS <= float(cell) * EPOCHS[epoch] <= _YEAR_2100_MS
    )


def _since_1970(text: str, epoch: str) -> _Cell:
    milliseconds = round(float(text) * EPOCHS[epoch]) if _NUMBER.fullmatch(text) else None
    if milliseconds is None or milliseconds > _YEAR_2100_MS:
        return _Cell(problem="is not a time", cure=_cure(text, epoch))
    return _Cell(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds))


def _time(text: str, rules: TimeRules) -> _Cell:
    """Parse a cell in ISO 8601, or in the given format."""
    form, word = rules.time_format, ""
    is_number = form is None and _NUMBER.fullmatch(text) is not None and not _COMPACT_DATE.fullmatch(text)
    try:
        if is_number:
            time = None
        elif form is None:
            time = datetime.fromisoformat(text)
        else:
            time, word = _in_format(text, form)
    except ValueError:
        time = None
    if time is None:
        return _Cell(problem="is not a time", cure=_cure(text, form))
    try:
        return _in_utc(time, word, rules, has_hour=_has_hour(text, form))
    except OverflowError:  # the first or the last hours that a calendar has
        return _Cell(problem="is not a time", cure=_cure(text, form))


def _has_hour(text: str, form: str | None) -> bool:
    """Return whether a time has its time of day."""
    if form is None:
        return len(text) > _DATE_LENGTH or not _DATE.fullmatch(text)
    return not _TIMES_OF_DAY.isdisjoint(_directives(form))


@cache
def _directives(form: str) -> frozenset[str]:
    """Return the letters behind the per cent signs of a format."""
    return frozenset(_DIRECTIVE.findall(form))


def _in_format(text: str, form: str) -> tuple[datetime, str]:
    """Parse a text in a format of `datetime.strptime`, with the name of its zone.

    The name comes from a %Z.

    `datetime.strptime` itself knows the names of the machine's own zone, and forgets which of them was there.

    Raises
    ------
    ValueError
        If the text is none of that format.
    """
    if "Z" not in _directives(form):
        return datetime.strptime(text, form), ""  # noqa: DTZ007 - the zone is seen to by the caller
    for word in _ZONE_WORD.findall(text):
        try:
            return datetime.strptime(text, _with_zone_name(form, word)), word  # noqa: DTZ007
        except ValueError:
            continue
    raise ValueError(text)


def _with_zone_name(form: str, name: str) -> str:
    """Return a format with each %Z replaced by a name."""
    return _DIRECTIVE.sub(lambda directive: name if directive[1] == "Z" else directive[0], form)


def _in_utc(time: datetime, word: str, rules: TimeRules, *, has_hour: bool) -> _Cell:
    """Convert a time to UTC by its offset, its zone's name, or the default zone."""
    if time.tzinfo is not None:
        return _Cell(time.astimezone(UTC), is_zoned=True, has_hour=has_hour)
    if word.casefold() in _UTC_WORDS:
        return _Cell(time.replace(tzinfo=UTC), is_zoned=True, has_hour=has_hour)
    zone = rules.zone
    if "/" in word and word in available_zones():
        zone, word = ZoneInfo(word), ""
    elif word and rules.time_zone is None:
        return _Cell(
            problem=f"names its zone {word}, a short name that several zones may share",
            cure="say which it is with --time-zone NAME, such as Europe/Berlin or America/New_York",
        )
    cell = _Cell(time.replace(tzinfo=UTC)) if zone is UTC else _localised(time, word, zone)
    return cell._replace(is_zoned=zone is not rules.zone or bool(word), has_hour=has_hour)


def _localised(time: datetime, word: str, zone: tzinfo) -> _Cell:
    """Return the moment at which the clocks of a zone show a time.

    ``word`` is the zone's short name at that time, or empty.
    """
    readings = [time.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    if word:
        readings = [each for each in readings if str(each.tzname()).casefold() == word.casefold()]
        if not readings:
            shown = " or ".join(
                dict.fromkeys(str(time.replace(tzinfo=zone, fold=fold).tzname()) for fold in (0, 1))
            )
            return _Cell(
                problem=f"names its zone {word}, and clocks in {zone} then show {shown}",
                cure="see whether --time-zone is right",
            )
    moments = sorted({each.astimezone(UTC) for each in readings})
    shown_again = [moment.astimezone(zone).replace(tzinfo=None, fold=0) == time for moment in moments]
    if not any(shown_again):
        return _Cell(
            problem=f"is an hour that clocks in {zone} leave out when they are put forward",
            cure="see whether --time-zone is right, or write the time with its offset",
        )
    if len(moments) > 1:
        both = " or ".join(moment.astimezone(zone).isoformat() for moment in moments)
        return _Cell(
            problem=f"is an hour that clocks in {zone} show twice when they are put back",
            cure=f"write it with its offset, {both}",
        )
    return _Cell(moments[0])


def _cure(cell: str, time_format: str | None) -> str:
    is_number = _NUMBER.fullmatch(cell) is not None
    if time_format is not None and time_format in EPOCHS:
        other = next(epoch for epoch in EPOCHS if epoch != time_format)
        asked = f"; are these {_WORDS[other]}? Then give --time-format {other}" if is_number else ""
        return f"write {_WORDS[time_format]} since 1970, before the year 2100{asked}"
    if time_format is None and is_number:
        return "say with --time-format what the numbers of this column are: epoch-s, epoch-ms, or a form such as %Y%m%d%H%M"
    form = time_format or "ISO 8601, such as 2026-03-01T09:30:00Z"
    return f"write it as {form}, or give --time-format"


def _unit_note(times: Sequence[datetime], column: str, epoch: str, *, is_guess: bool) -> str:
    """Return a note on the unit of numbers and the range of their times."""
    first, last = (f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in (min(times), max(times)))
    wrong = "; if that is wrong, give --time-format" if is_guess else ""
    return f"{column} read as {_WORDS[epoch]} since 1970, from {first} to {last}{wrong}"


def _strange_years(
    cells: "pd.Series[str]", times: Times, column: str, time_format: str | None
) -> Iterator[str]:
    """Yield a warning of times outside the years 2000 to 2100, read by a time format."""
    known = times.dropna()
    outside = int((~known.dt.year.between(2000, 2099)).sum())
    if time_format is None or not outside:
        return
    meant = _unit_of([cell for cell in cells if cell])
    asked = (
        f"these look like {_WORDS[meant]}: --time-format {meant}"
        if meant
        else "see whether --time-format is right"
    )
    yield f"{column}: {pluralise(outside, 'time')} before 2000 or after 2100, from {known.min().year} on; {asked}"


def _whole_days(cells: Sequence[_Cell], column: str, lines: Sequence[int]) -> Iterator[str]:
    """Yield a warning of times without time of day."""
    known = [(cell.has_hour, line) for cell, line in zip(cells, lines, strict=True) if cell.time is not None]
    days = [line for has_hour, line in known if not has_hour]
    if days and len(days) == len(known):
        yield (
            f"{column} holds days and no times of day: each is read as its midnight, and seconds between such times mean "
            "nothing; name a column with times, if there is one"
        )
    elif days:
        count = "1 time is a day" if len(days) == 1 else f"{len(days):,} times are days"
        yield (
            f"{column}: {count} without a time of day, such as on line {days[0]}, and read as midnight; see whether it is"
        )


def _check_zones(
    cells: Mapping[str, Sequence[_Cell]],
    rules: TimeRules,
    lines: Sequence[int],
    log: FaultLog,
    read: TimeColumns,
) -> None:
    """Note times without a zone beside others, or the zone assumed of all."""
    if rules.time_zone is not None:
        return
    known = [
        (line, column, cell.is_zoned)
        for column, of_column in cells.items()
        for line, cell in zip(lines, of_column, strict=True)
        if cell.time is not None
    ]
    without = [(line, column) for line, column, is_zoned in known if not is_zoned]
    if not without:
        return
    if len(without) == len(known):
        names = " and ".join(dict.fromkeys(column for _, column in without))
        read.notes.append(f"{names} without a time zone, read as UTC; if that is wrong, give --time-zone")
        return
    line, column = without[0]
    other_line, other = next((line, column) for line, column, is_zoned in known if is_zoned)
    log.add(
        f"{column} has no time zone here, and {other} has one on line {other_line} ({len(without):,} of {len(known):,} "
        "times of the file have none)",
        line=line,
        cure="say with --time-zone NAME where times without a zone were written, such as Europe/Berlin or UTC",
    )
    for column, of_column in cells.items():
        is_local = [cell.time is not None and not cell.is_zoned for cell in of_column]
        read.times[column] = read.times[column].mask(pd.Series(is_local, index=read.times[column].index))
