"""Printed answer of `prefcal plan`: a sentence, the plan as given, and a table."""

import math
from collections.abc import Iterator, Sequence

from calibration.plan.search import MAX_FACTOR, Plan, PrecisionGoal
from calibration.plan.simulation import PlanRow
from metrics.errors import percent, pluralise
from study_app.cli.output import WIDTH, Cell, table_text, terminal_width, wrapped
from study_app.cli.plan.wording import BUSY, PlanWording

COLUMNS = (
    "vary",
    "size",
    "people",
    "judgments",
    "width",
    "width_most",
    "power",
    "detectable",
    "nothing",
    "role",
    "cost",
)
ENOUGH_HELP = 7 / 6
ROUGHLY = 0.25
"""Relative error above which a size is printed with its range."""


def plan_text(result: Plan, question: PlanWording, wish: PrecisionGoal, *, seed: int) -> str:
    """Format the answer; an unreachable power is one sentence without numbers.

    Parameters
    ----------
    result : Plan
        Result of the search.
    question : PlanWording
        Words and units of the answer.
    wish : PrecisionGoal
        Width or power that the study is to reach.
    seed : int
        Seed of the simulation.
    """
    asked = result.row(result.asked)
    answer = headline(result, question, wish)
    if result.needed is None and wish.power is not None and not _undecided(result.rows[-1], wish):
        return _wrapped(answer) + "\n"
    paragraphs = [
        answer + _cost_of_needed(result, question),
        " ".join(_as_given(result, question, asked)),
        table_text(_headers(result, question), list(_table_rows(result, question))).rstrip("\n"),
        "\n".join(_how_to_read(result, question)),
        f"Taken for true: {question.assumed}.",
        _precision(result, question, wish, seed),
    ]
    return "\n\n".join(_wrapped(part) for part in paragraphs) + "\n"


def headline(result: Plan, question: PlanWording, wish: PrecisionGoal) -> str:
    """Return the answer in a sentence.

    Power is judged by its interval over the simulated studies: an interval that holds the goal is neither
    enough nor too little.
    """
    goal = _goal(question, wish)
    if result.needed is None:
        return _beyond(result, question, wish)
    if _undecided(result.row(result.asked), wish):
        return (
            f"Your {question.count(result.vary, result.asked)} {_are(result.asked)} about what it takes to get {goal}: "
            f"{_between(result.row(result.asked))}."
        )
    needed = question.count(result.vary, result.needed)
    if result.needed <= result.asked:
        spare = "" if result.needed == result.asked else f"; {needed}{_known_roughly(result, wish)} would do"
        return f"Your {question.count(result.vary, result.asked)} {_are(result.asked)} enough to get {goal}{spare}."
    return f"Plan {needed}{_known_roughly(result, wish)} to get {goal}."


def _beyond(result: Plan, question: PlanWording, wish: PrecisionGoal) -> str:
    """Return the answer where no simulated size reaches the goal."""
    largest = result.rows[-1]
    many = question.count(result.vary, largest.size)
    if _undecided(largest, wish):
        return f"Hardly within reach: it takes about {many} or more to get {_goal(question, wish)}; with them {_between(largest)}."
    return f"Not within reach: even with {many} {_reached(question, wish, largest)}. {_advice(result, question, wish)}"


def _undecided(row: PlanRow, wish: PrecisionGoal) -> bool:
    """Return whether the interval of a row's power holds the goal."""
    if wish.power is None:
        return False
    low, high = row.power_interval
    return low < wish.power <= high


def _between(row: PlanRow) -> str:
    low, high = row.power_interval
    return f"the chance is between {percent(low)} and {percent(high)}, so far as {row.studies:,} simulated studies tell"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _known_roughly(result: Plan, wish: PrecisionGoal) -> str:
    """Return the range of the needed size, if it is wide."""
    if result.needed is None or (unsure := wish.unsure(result.row(result.needed))) <= ROUGHLY:
        return ""
    studies = f"so far as {result.rows[0].studies:,} simulated studies tell"
    if unsure >= 1:
        return f" (a guess, {studies}: give more --studies)"
    low, high = (round(result.needed * (1 + side * unsure)) for side in (-1, 1))
    return f" (between {low:,} and {high:,}, {studies})"


def machine_rows(result: Plan, question: PlanWording) -> list[list[Cell]]:
    """Return the rows for machines, under `COLUMNS`; power needs a null value."""
    return [
        [
            result.vary,
            row.size,
            row.people,
            row.judgments,
            row.width,
            row.width_most,
            None if question.found is None else row.power,
            row.detectable,
            row.nothing,
            _role(result, row),
            None if question.person is None else question.person.cost(row.people),
        ]
        for row in result.rows
    ]


def _goal(question: PlanWording, wish: PrecisionGoal) -> str:
    if wish.width is None:
        return f"a chance of {percent(wish.power or 0)} that the study {question.found}"
    often = "typically" if wish.sure == 0.5 else f"in {percent(wish.sure)} of studies"
    return f"a 95 % interval of {question.subject} that is {often} at most {question.amount(wish.width)} wide"


def _reached(question: PlanWording, wish: PrecisionGoal, row: PlanRow) -> str:
    if wish.width is None:
        return f"the chance that the study {question.found} is {percent(row.power)}, not {percent(wish.power or 0)}"
    often = "typically" if wish.sure == 0.5 else f"in {percent(wish.sure)} of studies up to"
    width = row.width_of(wish.sure)
    if not question.is_bounded(width):
        return f"{_nothing_known(question)} in more than {percent(1 - wish.sure)} of studies"
    return f"the 95 % interval of {question.subject} is {often} {question.amount(width)} wide, not {question.amount(wish.width)}"


def _nothing_known(question: PlanWording) -> str:
    """State that the interval is open at one end, or does not exist."""
    interval = f"95 % interval of {question.subject}"
    if question.no_width == "none":
        return f"there is no {interval}, since queries or people are too few, or all queries come out alike,"
    return f"the {interval} is open at one end"


def _advice(result: Plan, question: PlanWording, wish: PrecisionGoal) -> str:
    """Return what to change where no simulated size reaches the goal."""
    largest = result.rows[-1]
    if (
        result.vary in question.helpful
        and largest.size >= MAX_FACTOR * result.asked
        and _still_helps(result)
        and not _has_no_interval(question, largest)
    ):
        more = max(wish.guess(largest), largest.size + 1)
        if more <= MAX_FACTOR * largest.size:
            return f"Begin with more: --{result.vary.replace('_', '-')} {_rounded_up(more)}."
    others = [f"--vary {name}" for name in question.helpful if name != result.vary]
    return f"Change another size: {' or '.join(others)}." if others else "Ask for less."


def _has_no_interval(question: PlanWording, row: PlanRow) -> bool:
    """Return whether a typical study of this size has no interval."""
    return question.no_width == "none" and not question.is_bounded(row.width)


def _still_helps(result: Plan) -> bool:
    """Return whether the largest size still detects clearly smaller distances.

    They must be at least a sixth smaller than those of half its size.
    """
    largest = result.rows[-1]
    smaller = [row for row in result.rows if 2 * row.size <= largest.size]
    return not smaller or not smaller[-1].detectable < ENOUGH_HELP * largest.detectable


def _rounded_up(size: int) -> int:
    """Round up to two significant digits, as 1,234 to 1,300."""
    unit = int(10 ** max(0, len(str(size)) - 2))
    return math.ceil(size / unit) * unit


def _as_given(result: Plan, question: PlanWording, row: PlanRow) -> Iterator[str]:
    people = pluralise(row.people, "person", "people")
    judged = "" if row.judgments is None else f", {pluralise(row.judgments, 'judgment')}"
    yield (
        f"As planned, with {question.count(result.vary, result.asked)}, {question.study} ({people}{judged}): "
        f"{_widths(question, row)}."
    )
    yield from _means(question, row)
    if question.found is not None:
        yield f"The chance that the study {question.found} is {percent(row.power)}."
    if _has_no_interval(question, row):
        yield "Such a study cannot distinguish any two values."
    elif question.tells(row):
        yield f"Four of five such studies would detect a true distance of {question.amount(row.detectable)}."
    else:
        yield f"With so few {question.sizes[result.vary][1]} no distance can be detected: {question.too_far(row)}."
    if row.nothing:
        yield f"In {percent(row.nothing)} of the studies it cannot be estimated at all."


def _means(question: PlanWording, row: PlanRow) -> Iterator[str]:
    """Yield the sentences about the time and the price of people."""
    person = question.person
    if person is not None and person.minutes is not None:
        busy = _range(person.minutes, "minute")
        hours = _range([row.people * end / 60 for end in person.minutes], "hour")
        yield f"One person is busy with the whole study for {busy}, all together for {hours}."
    if priced := question.priced:
        other = (
            "" if priced.minutes else ", at the reward of the study file, in which one person does other work"
        )
        yield f"With the platform's fee they cost {priced.money(row.people)}{other}."


def _range(ends: Sequence[float], unit: str) -> str:
    """Format a range with its unit, as in `18 to 196 minutes`."""
    low, high = (f"{end:,.0f}" for end in ends)
    return f"{low if low == high else f'{low} to {high}'} {unit if low == high == '1' else f'{unit}s'}"


def _cost_of_needed(result: Plan, question: PlanWording) -> str:
    if question.priced is None or result.needed in {None, result.asked}:
        return ""
    row = result.row(result.needed or result.asked)
    return f" These are {pluralise(row.people, 'person', 'people')}, for {question.priced.money(row.people)}."


def _widths(question: PlanWording, row: PlanRow) -> str:
    if not question.is_bounded(row.width):
        return f"{_nothing_known(question)} in more than half of such studies"
    typical = f"the 95 % interval of {question.subject} is typically {question.amount(row.width)} wide"
    if not question.is_bounded(row.width_most):
        nothing = "there is none" if question.no_width == "none" else "it is open at one end"
        return f"{typical}, but {nothing} in more than one of five studies"
    return f"{typical}, in four of five studies at most {question.amount(row.width_most)}"


def _headers(result: Plan, question: PlanWording) -> list[str]:
    headers = [question.sizes[result.vary][1], "people"]
    headers += [] if result.rows[0].judgments is None else ["judgments"]
    headers += [f"cost, {question.priced.currency}"] if question.priced else []
    headers += ["typical width", "width, 4 of 5"]
    headers += [] if question.found is None else ["chance"]
    return [*headers, "detectable", ""]


def _table_rows(result: Plan, question: PlanWording) -> Iterator[list[Cell]]:
    words = {
        "asked": "<- as planned",
        "needed": "<- enough",
        "asked, needed": "<- as planned, and enough",
        "": "",
    }
    for row in result.rows:
        cells: list[Cell] = [f"{row.size:,}", f"{row.people:,}"]
        cells += [] if row.judgments is None else [f"{row.judgments:,}"]
        cells += [f"{question.priced.cost(row.people):,.2f}"] if question.priced else []
        cells += [question.number(row.width), question.number(row.width_most)]
        cells += [] if question.found is None else [f"{percent(row.power)}"]
        yield [
            *cells,
            question.number(row.detectable) if question.tells(row) else "none",
            words[_role(result, row)],
        ]


def _role(result: Plan, row: PlanRow) -> str:
    roles = [name for name, size in (("asked", result.asked), ("needed", result.needed)) if size == row.size]
    return ", ".join(roles)


def _how_to_read(result: Plan, question: PlanWording) -> Iterator[str]:
    yield f"typical width: from end to end of the 95 % interval{question.unit and ' in' + question.unit}; half of the studies have a narrower one."
    yield "width, 4 of 5: four of five studies have an interval at most that wide."
    if question.priced and result.vary in BUSY:
        yield "cost: at the reward of the study file, though a person does more or less work for it."
    if not all(question.is_bounded(row.width_most) for row in result.rows):
        yield (
            "none, of a width: there is no interval, as where queries or people are too few, or all queries come out alike."
            if question.no_width == "none"
            else "open: the interval has no bound at one end, or is so wide that it says nothing."
        )
    if question.found is not None:
        yield f"chance: the share of studies that {question.found.replace('tells', 'tell', 1).replace('finds', 'find', 1)} (the power)."
    yield "detectable: the smallest true distance that four of five studies would detect at 5 %, two-sided."
    if not all(map(question.tells, result.rows)):
        yield "none, of what is detectable: so small a study detects no distance."


def _precision(result: Plan, question: PlanWording, wish: PrecisionGoal, seed: int) -> str:
    studies = result.rows[0].studies
    error = 1.96 * 0.4 / math.sqrt(studies)
    sizes = ""
    if result.needed is not None and (unsure := wish.unsure(result.row(result.needed))) < 1:
        sizes = f", and the {question.count(result.vary, result.needed)} to about {100 * unsure:.0f} %"
    return (
        f"Simulated: {studies:,} studies of each size, seed {seed}. A chance near 80 % is then known to about "
        f"{100 * error:.0f} points{sizes}; --studies makes it steadier."
    )


def _wrapped(text: str) -> str:
    """Wrap prose to the terminal; leave tables as they are."""
    return text if "\n" in text else wrapped(text, width=terminal_width() or WIDTH)
