"""Verdicts of a judge that others made: files whose columns are recognised by what stands in them.

A row has a topic, two systems (or items), the verdict, and may have the order, the repeat and the model. Which column is which is told by the
topics and systems of the tables beside which the judge is set, then by headers; what cannot be told apart is asked, never guessed.
"""

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import pandas as pd

from calibration.tables.definition import in_order
from calibration.tables.tables import CHOICES, JUDGE_CHOICES, MAX_STRENGTH, SIDES
from metrics.errors import FaultLog, join_names, pluralise
from metrics.readers.columns import DELIMITERS
from metrics.readers.lines import byte_lines, decoded, read_bytes

Systems: TypeAlias = Mapping[str, Collection[str]]
"""Topic -> its systems, of the tables beside which a judge is set."""
ROLES = ("topic", "left", "right", "verdict", "order", "repeat", "model", "strength")
NEEDED = ROLES[:4]
SKIPPED = "-"
HEADERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "topic": frozenset({"topic", "topic_id", "query", "query_id", "qid"}),
        "left": frozenset({"left", "first", "a", "system_left", "system_a", "item_a"}),
        "right": frozenset({"right", "second", "b", "system_right", "system_b", "item_b"}),
        "verdict": frozenset({"verdict", "choice", "winner", "preference", "preferred", "label"}),
        "order": frozenset({"order"}),
        "repeat": frozenset({"repeat", "sample"}),
        "model": frozenset({"model"}),
        "strength": frozenset({"strength"}),
    }
)
"""Role -> what a header may call it; it decides only between columns whose values allow both, and for order, repeat, model and strength."""
VERDICTS = (*CHOICES, *JUDGE_CHOICES)
WORDS: Mapping[str, str] = MappingProxyType(
    {verdict: verdict for verdict in VERDICTS}
    | dict.fromkeys(("first", "a", "l"), "left")
    | dict.fromkeys(("second", "b", "r"), "right")
    | dict.fromkeys(("tie", "tied", "equal", "same", "draw", "="), "equally_good")
    | {"": "no_answer", "contradiction": "contradicts"}
)
"""Words in small letters that are understood -> what they mean. A judge's tie is `equally_good`."""
MOSTLY = 0.5
"""From this share of its rows on a column may hold topics, systems or verdicts; those that it does not know are said one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRules:
    """What the user says of a file of verdicts.

    Attributes
    ----------
    columns : tuple of str or None
        Role of each field, of `ROLES`, or ``-``; None: told by their values.
    answers : mapping of str to str
        What a verdict says -> one of `VERDICTS`.
    sides : {'shown', 'fixed'} or None
        Whether the two systems stand as they were shown in each row, or the same way in both orders; None: told by the rows.
    verdict_is : {'system', 'column', 'side'} or None
        Whether a verdict names a system, a column of the file, or the side on which a system stood; None: told by the rows.
    """

    columns: tuple[str, ...] | None = None
    answers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sides: Literal["shown", "fixed"] | None = None
    verdict_is: Literal["system", "column", "side"] | None = None


class ForeignVerdicts(NamedTuple):
    """What a file of verdicts holds.

    Attributes
    ----------
    rows : DataFrame
        topic, system_left, system_right, choice, order, repeat, and strength where there is such a column, in the order of the file.
    models : tuple of str
        Names in its column of models.
    notes : tuple of str
        What was taken for granted, a sentence each.
    """

    rows: pd.DataFrame
    models: tuple[str, ...]
    notes: tuple[str, ...]


class _Row(NamedTuple):
    line: int
    cells: list[str]


def read_foreign_verdicts(
    path: str | Path, systems: Systems, rules: VerdictRules | None = None
) -> ForeignVerdicts:
    """Read verdicts that others made.

    Parameters
    ----------
    path : str or Path
        In UTF-8, plain or packed; fields separated by commas, semicolons, tabs, bars or blanks; with a header or without.
    systems : mapping of str to collection of str
        Topic -> its systems in the tables.
    rules : VerdictRules, optional
        What the user says of it.

    Raises
    ------
    InputError
        If the file cannot be read, if columns or verdicts cannot be told apart, and for cells that are empty or not understood, one line a
        kind with the count.
    """
    rules, log = rules or VerdictRules(), FaultLog(path)
    rows = _read_rows(path, log)
    header, rows = _without_header(rows, systems)
    roles = (
        _named_roles(rules.columns, rows, log)
        if rules.columns
        else _told_roles(rows, header, systems, {*WORDS, *map(str.casefold, rules.answers)}, log)
    )
    log.raise_if_any()
    unread = [name for place, name in enumerate(header) if place not in roles.values()]
    lines = [row.line for row in rows]
    frame = pd.DataFrame(
        {role: [row.cells[place] for row in rows] for role, place in roles.items()}, dtype="str"
    )
    _check_names(frame, lines, log)
    order = _whole_numbers(frame, "order", lines, log, most=2)
    repeat = _whole_numbers(frame, "repeat", lines, log)
    log.raise_if_any()
    frame, notes = _with_order(frame, order, rules, lines, log)
    choice = _choices(frame, rules, lines, log)
    log.raise_if_any()
    shown = frame["is_exchanged"]
    if (choice == "contradicts").any() and frame["order"].notna().any():
        log.add(
            "verdicts are said to contradict each other over both orders, and each has an order",
            line=lines[0],
            cure="leave the order out: name its column - in --columns",
        )
    result = pd.DataFrame(
        {
            "topic": frame["topic"],
            "system_left": frame["left"].mask(shown, frame["right"]),
            "system_right": frame["right"].mask(shown, frame["left"]),
            "choice": choice,
            "order": frame["order"],
        }
    )
    if "strength" in frame:
        result["strength"] = _strengths(frame["strength"], choice, lines, log)
    result["repeat"] = _repeats(result, repeat, lines, log, notes)
    log.raise_if_any()
    if unread:
        notes.append(f"not read: {join_names(unread)}; --columns says what they are")
    models = tuple(frame["model"].replace("", pd.NA).dropna().unique()) if "model" in frame else ()
    return ForeignVerdicts(result, models, tuple(notes))


def _read_rows(path: str | Path, log: FaultLog) -> list[_Row]:
    """Return the fields of each line that has any; another number of fields than the first line has is a fault."""
    data = read_bytes(path)
    text, lines = decoded(data, log.path), [line.decode() for line in byte_lines(data)]
    first = next(filter(str.strip, lines), "")
    delimiter = max(DELIMITERS, key=first.count)
    if first.count(delimiter):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = [_Row(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(cells)]
    else:
        rows = [_Row(number, line.split()) for number, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        log.add("the file is empty", line=1, cure="name a file with a verdict on each line")
    wrong = [row.line for row in rows if len(row.cells) != len(rows[0].cells)]
    _add(log, wrong, f"fields expected: {len(rows[0].cells) if rows else 0}", "write as many in each row")
    log.raise_if_any()
    return rows


def _without_header(rows: list[_Row], systems: Systems) -> tuple[list[str], list[_Row]]:
    """Return the header, made up where the first row is a verdict about a known topic and system, and the rows below."""
    first = rows[0].cells
    is_verdict = any(cell in systems and set(first) & set(systems[cell]) for cell in first)
    if is_verdict:
        return [f"field {number}" for number in range(1, len(first) + 1)], rows
    return first, rows[1:]


def _named_roles(columns: Sequence[str], rows: Sequence[_Row], log: FaultLog) -> dict[str, int]:
    named = [name.strip() for name in columns]
    wrong = [name for name in named if name not in {*ROLES, SKIPPED}]
    roles = {name: place for place, name in enumerate(named) if name != SKIPPED}
    missing = [role for role in NEEDED if role not in roles]
    problem = (
        f"there is no {wrong[0]!r}"
        if wrong
        else f"there is no {missing[0]} among them"
        if missing
        else "a column is named twice"
        if len(roles) + named.count(SKIPPED) < len(named)
        else f"the file has {pluralise(len(rows[0].cells), 'field')}"
        if rows and len(named) != len(rows[0].cells)
        else ""
    )
    if problem:
        known = f"name each field in the order of the file, of {join_names(ROLES, most=9)}, or - for what is not read"
        log.add(f"columns {','.join(named)}: {problem}", line=1, cure=known)
    return roles


def _told_roles(
    rows: Sequence[_Row], header: list[str], systems: Systems, words: Collection[str], log: FaultLog
) -> dict[str, int]:
    """Return role -> place of the column, told by values, then by headers; what they leave open is noted."""
    if not rows:
        log.add("there is no row below the header", line=1, cure="see whether this is the whole file")
        return {}
    columns = list(zip(*(row.cells for row in rows), strict=True))
    found = _likely_roles(columns, header, systems, words)
    by_header = [
        roles for roles in found if all(_is_called(header, role, place) for role, place in roles.items())
    ]
    if len(found) > 1 and len(by_header) == 1:
        found = by_header
    ask = "--columns, such as --columns topic,left,right,verdict"
    if len(found) != 1:
        problem = "several columns may be topic, the two systems and the verdict"
        cure = f"say which by {ask}"
        if not found:
            problem = "no columns hold topics and systems of the tables, and a verdict between the two systems of their row"
            cure = f"name topics and systems as in the tables, or say which by {ask}"
        if not found and (sides := _likely_sides(columns, header, systems)):
            named = [
                next((role for role, place in sides.items() if place == at), SKIPPED)
                for at in range(len(header))
            ]
            if SKIPPED in named:
                named[named.index(SKIPPED)] = "verdict"
                problem = f"{join_names([header[place] for place in sides.values()])} hold topics and systems, but no column a verdict that is understood"
                cure = f"say which column it is, as in --columns {','.join(named)}, and what its words mean by --answer SAID=CHOICE"
        log.add(problem, line=rows[0].line, cure=cure)
        return {}
    roles = found[0]
    if _is_called(header, "right", roles["left"]) and _is_called(header, "left", roles["right"]):
        roles |= {"left": roles["right"], "right": roles["left"]}
    for role in ROLES[4:]:
        places = [place for place in range(len(header)) if _is_called(header, role, place)]
        if len(places) == 1 and places[0] not in roles.values():
            roles[role] = places[0]
    return roles


def _likely_sides(
    columns: Sequence[tuple[str, ...]], header: Sequence[str], systems: Systems
) -> dict[str, int]:
    """Return the columns of topic and systems that values tell whatever the verdicts say, none where several may be."""
    words = {cell.casefold() for cells in columns for cell in cells}
    found = {
        tuple(roles[role] for role in NEEDED[:3]) for roles in _likely_roles(columns, header, systems, words)
    }
    return dict(zip(NEEDED[:3], found.pop(), strict=True)) if len(found) == 1 else {}


def _is_called(header: Sequence[str], role: str, place: int) -> bool:
    return header[place].strip().casefold().replace(" ", "_") in HEADERS[role]


def _likely_roles(
    columns: Sequence[tuple[str, ...]], header: Sequence[str], systems: Systems, words: Collection[str]
) -> list[dict[str, int]]:
    """Return the choices of topic, two systems and verdict by which most rows can be understood, of those by which at least half can."""
    scores = []
    places = range(len(columns))
    for topic in places:
        known = [systems.get(cell, ()) for cell in columns[topic]]
        is_system = {
            place: [cell in names for cell, names in zip(columns[place], known, strict=True)]
            for place in places
            if place != topic
        }
        likely = [place for place, each in is_system.items() if sum(each) >= MOSTLY * len(each) > 0]
        for left, right in combinations(likely, 2):
            if any(a == b for a, b in zip(columns[left], columns[right], strict=True)):
                continue
            for verdict in set(places) - {topic, left, right}:
                understood = [
                    cell in {a, b} or (cell != "" and cell.casefold() in words)
                    for cell, a, b in zip(columns[verdict], columns[left], columns[right], strict=True)
                ]
                whole = zip(is_system[left], is_system[right], understood, strict=True)
                roles = {"topic": topic, "left": left, "right": right, "verdict": verdict}
                if sum(understood) >= MOSTLY * len(understood) or _is_called(header, "verdict", verdict):
                    scores.append((sum(map(all, whole)), roles))
    best = max((score for score, _ in scores), default=0)
    return [roles for score, roles in scores if score == best]


def _add(log: FaultLog, lines: Sequence[int], problem: str, cure: str) -> None:
    """Note a fault of several rows once, at the first of them, with their count."""
    if lines:
        count = f" ({len(lines):,} rows, the first here)" if len(lines) > 1 else ""
        log.add(f"{problem}{count}", line=lines[0], cure=cure)


def _where(lines: Sequence[int], wrong: "pd.Series[bool]") -> list[int]:
    return [line for line, is_wrong in zip(lines, wrong.tolist(), strict=True) if is_wrong]


def _check_names(frame: pd.DataFrame, lines: Sequence[int], log: FaultLog) -> None:
    for role in ("topic", "left", "right"):
        _add(log, _where(lines, frame[role] == ""), f"{role} is empty", "fill it in, or remove the row")
    same = (frame["left"] == frame["right"]) & (frame["left"] != "")
    _add(log, _where(lines, same), "both systems are the same", "name the two that were compared")


def _whole_numbers(
    frame: pd.DataFrame, role: str, lines: Sequence[int], log: FaultLog, *, most: int | None = None
) -> "pd.Series[int]":
    """Return a column of numbers from 1, missing where a cell is empty or there is no such column."""
    if role not in frame:
        return pd.Series(pd.NA, index=frame.index, dtype="Int64")
    cells = frame[role]
    numbers = pd.to_numeric(cells, errors="coerce")
    wrong = (cells != "") & ~((numbers >= 1) & (numbers == numbers.round()) & (numbers <= (most or 1e9)))
    said = "neither 1 nor 2" if most else "no whole number from 1"
    _add(log, _where(lines, wrong), f"{role} is {said}", "write it so, or name the column - in --columns")
    return numbers.mask(wrong).astype("Int64")


def _with_order(
    frame: pd.DataFrame, order: "pd.Series[int]", rules: VerdictRules, lines: Sequence[int], log: FaultLog
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows with their order, and whether the sides stood the other way round than the columns; and notes."""
    is_first = frame["left"] < frame["right"]
    a, b = in_order(frame["left"], frame["right"])
    couple = pd.DataFrame({"topic": frame["topic"], "a": a, "b": b})
    both_ways = is_first.groupby([couple[name] for name in couple], sort=False).transform("nunique") > 1
    if order.isna().all():
        if rules.sides == "shown":
            return frame.assign(order=2 - is_first.astype("Int64"), is_exchanged=False), []
        hint = (
            f"; {pluralise(int(couple[both_ways].drop_duplicates().shape[0]), 'pair')} stand in both orders of the columns: if these are as"
            " shown, give --sides shown"
            if both_ways.any()
            else ""
        )
        words = {**WORDS, **rules.answers}
        if (
            frame["verdict"].map(lambda word: words.get(word, words.get(word.casefold()))) == "contradicts"
        ).any():
            note = "verdicts are over both orders of a pair, so position lean cannot be measured"
        else:
            note = f"no order is known, so position lean and contradictions between orders cannot be measured{hint}"
        return frame.assign(order=order, is_exchanged=False), [note]
    missing = _where(lines, order.isna())
    notes = (
        [f"{pluralise(len(missing), 'row')} without an order, the first on line {missing[0]}"]
        if missing
        else []
    )
    sides = rules.sides or (_told_sides(couple, order, is_first) if (order == 2).any() else "shown")
    if sides is None:
        log.add(
            "there is an order, and the rows do not tell whether the two systems stand as shown or the same in both orders",
            line=lines[0],
            cure="say which: --sides shown or --sides fixed",
        )
    exchanged = (order == 2).fillna(value=False).astype(bool) & (sides == "fixed")
    return frame.assign(order=order, is_exchanged=exchanged), notes


def _told_sides(
    couple: pd.DataFrame, order: "pd.Series[int]", is_first: "pd.Series[bool]"
) -> Literal["shown", "fixed"] | None:
    """Say by the pairs that stand in both orders whether columns were exchanged with the order, None where they differ or are missing."""
    known = order.notna()
    keys = [couple.loc[known, name] for name in couple]
    grouped = pd.DataFrame({"is_first": is_first[known], "order": order[known].astype("int64")})
    grouped["turned"] = grouped["is_first"] ^ (grouped["order"] == 2)
    of_couple = grouped.groupby(keys, sort=False)
    both = of_couple["order"].transform("nunique") > 1
    if not both.any():
        return None
    exchanged = bool((of_couple["turned"].transform("nunique")[both] == 1).all())
    fixed = bool((of_couple["is_first"].transform("nunique")[both] == 1).all())
    return "shown" if exchanged else "fixed" if fixed else None


def _choices(
    frame: pd.DataFrame, rules: VerdictRules, lines: Sequence[int], log: FaultLog
) -> "pd.Series[str]":
    """Return each verdict as one of `VERDICTS`, of the sides as they were shown."""
    verdict = frame["verdict"]
    by_name = pd.Series(None, index=frame.index, dtype="str")
    by_name = by_name.mask(verdict == frame["left"], "left").mask(verdict == frame["right"], "right")
    words = {**WORDS, **{said.casefold(): meant for said, meant in rules.answers.items()}}
    by_word = verdict.str.casefold().map(words).astype("str")
    sided, exchanged = by_word.isin(["left", "right"]), frame["is_exchanged"]
    clash = by_name.notna() & by_word.notna() & ((by_name != by_word) | (sided & exchanged))
    open_side = sided & exchanged & by_name.isna()
    if rules.verdict_is is None:
        _add(
            log,
            _where(lines, clash),
            "the verdict is the name of a system and a word for the other one",
            "say which: --verdict-is system or --verdict-is column",
        )
        _add(
            log,
            _where(lines, open_side & ~clash),
            "the systems do not change places with the order, and the verdict may name a column or the side shown",
            "say which: --verdict-is column or --verdict-is side",
        )
    turned = by_word.map({"left": "right", "right": "left"})
    of_columns = by_word.mask(sided & exchanged, turned)
    of_names = by_name.mask(exchanged, by_name.map({"left": "right", "right": "left"}))
    said = of_columns if rules.verdict_is == "column" else by_word
    choice = said.fillna(of_names) if rules.verdict_is in {"column", "side"} else of_names.fillna(said)
    unknown = choice.isna()
    for word in verdict[unknown].unique():
        _add(
            log,
            _where(lines, unknown & (verdict == word)),
            f"unknown verdict {word!r}",
            f"give its meaning: --answer {quote(word)}=CHOICE, CHOICE one of {join_names(VERDICTS, most=9)}",
        )
    return choice


def _strengths(
    cells: "pd.Series[str]", choice: "pd.Series[str]", lines: Sequence[int], log: FaultLog
) -> "pd.Series[int]":
    """Return how much better the chosen side is: from 1 beside a side, 0 where neither is better, missing where a cell is empty."""
    known = pd.to_numeric(cells, errors="coerce").where(cells.isin(map(str, range(MAX_STRENGTH + 1))))
    is_side = choice.isin(SIDES)
    fits = (known.gt(0) & is_side) | (known.eq(0) & ~is_side & choice.isin(CHOICES)) | (cells == "")
    said = f"strength is neither 1 to {MAX_STRENGTH} beside a side nor 0 beside a tie"
    _add(log, _where(lines, ~fits), said, "write it so, or name the column - in --columns")
    return known.astype("Int64")


def _repeats(
    rows: pd.DataFrame, given: "pd.Series[int]", lines: Sequence[int], log: FaultLog, notes: list[str]
) -> "pd.Series[int]":
    """Return the number of each verdict among those on its pair in its order, counted in the order of the file where it is not given."""
    couple = in_order(rows["system_left"], rows["system_right"])
    keys = [rows["topic"], *couple, rows["order"].fillna(0)]
    counted = rows.groupby(keys, sort=False).cumcount() + 1
    if given.isna().all():
        again = int((counted > 1).sum())
        if again:
            pairs = int((counted == 2).sum())
            notes.append(
                f"{pluralise(again, 'verdict')} on {pluralise(pairs, 'pair')} that had one before: repeats 2, 3, ... in the order of the"
                " file"
            )
        return counted.astype("Int64")
    filled = given.fillna(1)
    twice = pd.concat([*keys, filled], axis="columns").duplicated()
    _add(
        log,
        _where(lines, twice),
        "the same pair, order and repeat occur in an earlier row",
        "number repeats 1, 2, ..., or name their column - in --columns",
    )
    return filled
