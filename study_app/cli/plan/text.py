"""What `prefcal plan` prints: the answer in a sentence, what the plan as given yields, the table, the curve."""

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from calibration.plan.search import Plan, Wish
from calibration.plan.simulation import PlanRow
from study_app.cli.output import Cell, table_text
from study_app.cli.plan.curve import percent, text_curve

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
)
WRAP = 100
ROUGHLY = 0.25
"""A size that is known less well is printed with what it is known to lie between."""
OPEN = "open at one end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """How a plan is talked about.

    Attributes
    ----------
    subject : str
        What the interval is of: `the agreement`.
    unit : str
        After numbers of it, with a blank before it; empty where there is none.
    digits : int
        After the decimal point.
    found : str or None
        What a study with power does: `tells 0.69 from 0.5`. None where nothing is to be told apart.
    study : str
        What does not vary: `21 pairs a query, 14 workers a pair`.
    sizes : mapping of str to (str, str)
        What may vary -> how one, and several of it, are called.
    assumed : str
        What is taken for true of the people.
    helpful : tuple of str
        The sizes that are worth changing when another does not reach the wish.
    """

    subject: str
    unit: str
    digits: int
    found: str | None
    study: str
    sizes: dict[str, tuple[str, str]]
    assumed: str
    helpful: tuple[str, ...]

    def number(self, value: float) -> str:
        """Return a value as people read it; `open` for an infinite width."""
        return "open" if math.isinf(value) else f"{value:,.{self.digits}f}"

    def amount(self, value: float) -> str:
        """Return a value with its unit."""
        return self.number(value) + self.unit

    def count(self, vary: str, size: int) -> str:
        """`1 query`, `25 queries`."""
        return f"{size:,} {self.sizes[vary][size != 1]}"


def plan_text(found: Plan, question: Question, wish: Wish, *, seed: int) -> str:
    """Put the answer together.

    Parameters
    ----------
    found : Plan
        What was found.
    question : Question
        How it is talked about.
    wish : Wish
        What was wished.
    seed : int
        Of the draws.
    """
    asked = found.row(found.asked)
    paragraphs = [
        headline(found, question, wish),
        " ".join(_as_given(found, question, asked)),
        table_text(_headers(found, question), list(_table_rows(found, question))).rstrip("\n"),
        text_curve(found, question, wish),
        "\n".join(_how_to_read(found, question)),
        f"Taken for true: {question.assumed}.",
        _precision(found, question, wish, seed),
    ]
    return "\n\n".join(_wrapped(part) for part in paragraphs) + "\n"


def headline(found: Plan, question: Question, wish: Wish) -> str:
    """Return the answer in a sentence."""
    goal = _goal(question, wish)
    if found.needed is None:
        largest = found.rows[-1]
        return (
            f"Not within reach: even with {question.count(found.vary, largest.size)} {_reached(question, wish, largest)}. "
            f"Change another size: {_others(found, question)}."
        )
    needed = question.count(found.vary, found.needed)
    if found.needed <= found.asked:
        spare = "" if found.needed == found.asked else f"; {needed}{_known_roughly(found, wish)} would do"
        return f"Your {question.count(found.vary, found.asked)} are enough to get {goal}{spare}."
    return f"Plan {needed}{_known_roughly(found, wish)} to get {goal}."


def _known_roughly(found: Plan, wish: Wish) -> str:
    """Return between what sizes the one needed is known to lie, where that is far."""
    if found.needed is None or (unsure := wish.unsure(found.row(found.needed))) <= ROUGHLY:
        return ""
    studies = f"so far as {found.rows[0].studies:,} simulated studies tell"
    if unsure >= 1:
        return f" (a guess, {studies}: give more --studies)"
    low, high = (round(found.needed * (1 + side * unsure)) for side in (-1, 1))
    return f" (between {low:,} and {high:,}, {studies})"


def machine_rows(found: Plan, question: Question) -> list[list[Cell]]:
    """Return the rows for machines, under `COLUMNS`; without a value to be told from there is no power."""
    return [
        [
            found.vary,
            row.size,
            row.people,
            row.judgments,
            row.width,
            row.width_most,
            None if question.found is None else row.power,
            row.detectable,
            row.nothing,
            _role(found, row),
        ]
        for row in found.rows
    ]


def _goal(question: Question, wish: Wish) -> str:
    if wish.width is None:
        return f"a chance of {percent(wish.power or 0)} that the study {question.found}"
    often = "typically" if wish.sure == 0.5 else f"in {percent(wish.sure)} of studies"
    return f"a 95 % interval of {question.subject} that is {often} at most {question.amount(wish.width)} wide"


def _reached(question: Question, wish: Wish, row: PlanRow) -> str:
    if wish.width is None:
        return f"the chance that the study {question.found} is {percent(row.power)}, not {percent(wish.power or 0)}"
    often = "typically" if wish.sure == 0.5 else f"in {percent(wish.sure)} of studies up to"
    width = row.width_of(wish.sure)
    reached = OPEN if math.isinf(width) else f"{question.amount(width)} wide"
    return f"the 95 % interval of {question.subject} is {often} {reached}, not {question.amount(wish.width)}"


def _others(found: Plan, question: Question) -> str:
    others = [name for name in question.helpful if name != found.vary]
    return " or ".join(f"--vary {name}" for name in others)


def _as_given(found: Plan, question: Question, row: PlanRow) -> Iterator[str]:
    people = f"{row.people:,} people"
    judged = "" if row.judgments is None else f", {row.judgments:,} judgments"
    yield (
        f"As planned, with {question.count(found.vary, found.asked)}, {question.study} ({people}{judged}): the 95 % "
        f"interval of {question.subject} is typically {_widths(question, row)}."
    )
    if question.found is not None:
        yield f"The chance that the study {question.found} is {percent(row.power)}."
    if math.isfinite(row.detectable):
        yield f"Four of five such studies would detect a true distance of {question.amount(row.detectable)}."
    if row.nothing:
        yield f"In {percent(row.nothing)} of the studies it cannot be told at all."


def _widths(question: Question, row: PlanRow) -> str:
    if math.isinf(row.width):
        return OPEN
    typical = f"{question.amount(row.width)} wide"
    if math.isinf(row.width_most):
        return f"{typical}, but {OPEN} in more than one of five studies"
    return f"{typical}, in four of five studies at most {question.amount(row.width_most)}"


def _headers(found: Plan, question: Question) -> list[str]:
    headers = [question.sizes[found.vary][1], "people"]
    headers += [] if found.rows[0].judgments is None else ["judgments"]
    headers += ["typical width", "width, 4 of 5"]
    headers += [] if question.found is None else ["chance"]
    return [*headers, "detectable", ""]


def _table_rows(found: Plan, question: Question) -> Iterator[list[Cell]]:
    words = {
        "asked": "<- as planned",
        "needed": "<- enough",
        "asked, needed": "<- as planned, and enough",
        "": "",
    }
    for row in found.rows:
        cells: list[Cell] = [f"{row.size:,}", f"{row.people:,}"]
        cells += [] if row.judgments is None else [f"{row.judgments:,}"]
        cells += [question.number(row.width), question.number(row.width_most)]
        cells += [] if question.found is None else [f"{percent(row.power)}"]
        yield [*cells, question.number(row.detectable), words[_role(found, row)]]


def _role(found: Plan, row: PlanRow) -> str:
    roles = [name for name, size in (("asked", found.asked), ("needed", found.needed)) if size == row.size]
    return ", ".join(roles)


def _how_to_read(found: Plan, question: Question) -> Iterator[str]:
    yield f"typical width: from end to end of the 95 % interval{question.unit and ' in' + question.unit}; half of the studies have a narrower one."
    yield "width, 4 of 5: four of five studies have an interval at most that wide."
    if any(math.isinf(row.width_most) for row in found.rows):
        yield "open: the interval has no bound at one end, as where the data allow any large value."
    if question.found is not None:
        yield f"chance: the share of studies that {question.found.replace('tells', 'tell', 1).replace('finds', 'find', 1)} (the power)."
    yield "detectable: the smallest true distance that four of five studies would detect at 5 %, two-sided."


def _precision(found: Plan, question: Question, wish: Wish, seed: int) -> str:
    studies = found.rows[0].studies
    error = 1.96 * 0.4 / math.sqrt(studies)
    sizes = ""
    if found.needed is not None and (unsure := wish.unsure(found.row(found.needed))) < 1:
        sizes = f", and the {question.count(found.vary, found.needed)} to about {100 * unsure:.0f} %"
    return (
        f"Simulated: {studies:,} studies of each size, seed {seed}. A chance near 80 % is then known to about "
        f"{100 * error:.0f} points{sizes}; --studies makes it steadier."
    )


def _wrapped(text: str) -> str:
    """Break lines of prose that are too long; tables and curves are kept as they are."""
    if "\n" in text:
        return text
    kept = text.replace(" %", "\0%")
    return textwrap.fill(kept, WRAP, break_long_words=False, break_on_hyphens=False).replace("\0", " ")
