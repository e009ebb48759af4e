"""Tasks of ratings and of questions on the small study, and short ways to do them."""

from typing import Any

from tests.study_app.small_study import INTENTS, IUNITS
from tests.study_app.visitor import Visitor

QUESTIONS = [
    {"id": "age", "text": "How old are you?", "type": "number", "min": 18, "max": 99},
    {
        "id": "phone",
        "text": "How often do you use a phone?",
        "type": "single",
        "options": ["Often", "Now and then", "Never"],
        "screen_out": ["Never"],
    },
    {"id": "where", "text": "Where?", "type": "multiple", "options": ["At home", "On the way", "At work"]},
    {"id": "more", "text": "Anything else?", "type": "text", "required": False},
]
ANSWERS = {"q-age": "25", "q-phone": "2", "q-where": ["3", "1"], "q-more": ""}
INTENT_TEXTS = {text: name for intents in INTENTS.values() for name, text in intents.items()}
IUNIT_TEXTS = {text: name for iunits in IUNITS.values() for name, text in iunits.items()}


def rating_task(**changes: Any) -> dict[str, Any]:
    """Return an iunit_importance task on the small study's collection: 4 intents with 4 iUnits each."""
    return {
        "kind": "iunit_importance",
        "name": "ratings",
        "collection": {kind: f"{kind}.tsv" for kind in ("queries", "iunits", "intents")},
        "intents_per_worker": 2,
        "iunits_per_page": 3,
        **changes,
    }


def questions_task(**changes: Any) -> dict[str, Any]:
    """Return a task with a question of each type."""
    return {"kind": "questions", "name": "about", "questions": QUESTIONS, **changes}


def shown(visitor: Visitor) -> tuple[str, dict[str, str]]:
    """Return the intent of a rating page, and field -> iUnit."""
    intent = INTENT_TEXTS[str(visitor.html.select_one("[data-intent]").get_text(strip=True))]  # type: ignore[union-attr]
    fields = {
        str(line.select_one("input")["name"]): IUNIT_TEXTS[line.legend.get_text(strip=True)]  # type: ignore[index,union-attr]
        for line in visitor.html.select("fieldset.scale")
    }
    return intent, fields


def rate_all(visitor: Visitor, rating: int = 3) -> Visitor:
    """Give the same rating to everything that is left of a task."""
    while "/rate/" in visitor.step:
        visitor.send(**dict.fromkeys(shown(visitor)[1], str(rating)))
    return visitor


def pass_check(visitor: Visitor, first: int, second: int) -> Visitor:
    """Answer a standard check."""
    return visitor.send(**{"check-1": str(first), "check-2": str(second)})
