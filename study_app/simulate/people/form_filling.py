"""What a simulated person writes into the forms beside pairs: checks, ratings, questions."""

from collections.abc import Sequence

import numpy as np

from study_app.services.worker.forms import HIGHEST
from study_app.simulate.site import Fields, Page, PageError, text_of
from study_app.simulate.worlds.world import World
from study_app.study.entries import AskingTask, Question, TaskEntry
from study_app.study.question_answers import field_of
from study_app.tasks.checks import check_of

RATING_NOISE_SD = 0.6
"""Of what a person thinks of an iUnit, in steps of the scale, before it is rounded to a step."""

WORDS = ("no", "none", "it was fine", "nothing to add")
NUMBERS = (18, 75)
"""Range of a number where the question has none."""


def check_fields(page: Page, entry: TaskEntry, *, careless: bool, rng: np.random.Generator) -> Fields:
    """Answer the check before a task: rightly, or, if careless, anyhow."""
    options = page.form().options
    right = {f"check-{number}": str(item.answer) for number, item in enumerate(check_of(entry), start=1)}
    if set(options) != set(right):
        raise PageError(f"{page.url}: asks {sorted(options)}, but the task's check has {sorted(right)}")
    if careless:
        return {name: _any(options[name], rng) for name in right}
    return right


def rating_fields(page: Page, world: World, *, careless: bool, rng: np.random.Generator) -> Fields:
    """Rate the iUnits of a sheet: as important as they are to the intent, give or take; if careless, anyhow."""
    query, intent = (text_of(page.marked(mark)) for mark in ("data-query", "data-intent"))
    fields = {}
    for name, iunit in page.legends().items():
        if iunit not in world.iunits[query]:
            raise PageError(f"{page.url}: {iunit!r} is no iUnit of {query!r}")
        thought = world.importance.get((query, intent, iunit), 0.0) + rng.normal(0.0, RATING_NOISE_SD)
        rating = rng.integers(HIGHEST + 1) if careless else np.clip(round(thought), 0, HIGHEST)
        fields[name] = str(int(rating))
    return fields


def question_fields(entry: AskingTask, rng: np.random.Generator) -> Fields:
    """Answer the study's questions; nobody in a crowd has what screens out."""
    return {field_of(question): _answer(question, rng) for question in entry.questions}


def _answer(question: Question, rng: np.random.Generator) -> str | list[str]:
    fitting = [
        str(number)
        for number, option in enumerate(question.options, start=1)
        if option not in question.screen_out
    ]
    match question.type:
        case "single":
            return str(rng.choice(fitting))
        case "multiple":
            return [str(rng.choice(fitting))]
        case "number":
            low = NUMBERS[0] if question.min is None else question.min
            high = max(low, NUMBERS[1]) if question.max is None else question.max
            return str(int(np.clip(round(rng.uniform(low, high)), np.ceil(low), np.floor(high))))
    return str(rng.choice(WORDS))


def _any(options: Sequence[tuple[str, str]], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))][0]
