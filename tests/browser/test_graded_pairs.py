"""Graded choices, criteria and reasons in a browser: on a phone, by keyboard, in Japanese, without script, and where pages get lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import select

from study_app.store.models import Judgment, StoredEvent
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.killing import kill
from tests.browser.study_server import StudyServer, study_server
from tests.browser.test_accessibility import Findings

ANSWERS = Path(__file__).resolve().parents[2] / "examples" / "answers"
CRITERIA = [
    {"name": "correct", "text": "Which answer is more correct?"},
    {"name": "complete", "text": "Which answer is more complete?"},
    {"name": "short", "text": "Which answer comes to the point sooner?"},
]
FIELDS = ("choice", "criterion-1", "criterion-2", "criterion-3")
TARGET_PIXELS = 44


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Write the bundled study of answers with some changes of its task; return its study file."""

    def write(**changes: Any) -> Path:
        study = yaml.safe_load((ANSWERS / "study.yaml").read_text(encoding="utf-8"))
        task = study["tasks"][0] | {"instructions": None, "choices": "graded7", **changes}
        task["collection"] = {"topics": str(ANSWERS / "collection" / "topics.tsv")}
        task["systems"] = {name: str(ANSWERS / path) for name, path in task["systems"].items()}
        file = tmp_path / "study.yaml"
        file.write_text(yaml.safe_dump(study | {"tasks": [task]}, allow_unicode=True), encoding="utf-8")
        return file

    return write


def begin(page: Page, study: StudyServer) -> None:
    """Go from the link to the first pair."""
    page.goto(f"{study.url}/s/answers?id=ann")
    send(page)


def send(page: Page) -> None:
    """Send the page's form."""
    with page.expect_navigation():
        page.locator("main form button").click()


def pick(page: Page, *values: str) -> None:
    """Pick an option of each question, by a press on its words."""
    for field, value in zip(FIELDS, values, strict=False):
        page.locator(f"label:has([name='{field}'][value='{value}'])").click()


def picked(page: Page) -> list[str]:
    """Return the options that are picked, in order of the questions."""
    return [str(box.get_attribute("value")) for box in page.locator("form.answer input:checked").all()]


def stored(study: StudyServer) -> list[tuple[Any, ...]]:
    """Return every revision of every answer, in order."""
    with study.reading() as session:
        answers = select(
            Judgment.choice, Judgment.strength, Judgment.criteria, Judgment.reason, Judgment.revision
        )
        return [tuple(row) for row in session.execute(answers.order_by(Judgment.id))]


WHOLE = ("left_3", "equally_good", "right_1", "left_2")
AS_STORED = {"correct": ["equally_good", 0], "complete": ["right", 1], "short": ["left", 2]}


def test_an_answer_on_a_phone_outlives_reload_kill_back_and_double_click(
    phone: BrowserContext, tmp_path: Path, written: Callable[..., Path]
) -> None:
    """Everybody can use the page; what was filled in stands again, is stored once, and a changed part is a revision."""
    found = Findings()
    with study_server(tmp_path, written(criteria=CRITERIA, reason="required")) as study:
        page = phone.new_page()
        begin(page, study)
        found.look(page, "graded-pair", "phone")
        boxes = [step.bounding_box() or {} for step in page.locator(".step").all()]
        assert len(boxes) == 4 * 7
        assert min(min(box["width"], box["height"]) for box in boxes) >= TARGET_PIXELS
        pick(page, *WHOLE[:3])
        page.fill("textarea", "It says more")
        page.reload()
        assert picked(page) == list(WHOLE[:3])
        expect(page.locator("textarea")).to_have_value("It says more")
        address = page.url
        pick(page, *WHOLE)
        page.locator("main form button").dblclick()
        page.wait_for_url("**/2/pair/1")
        assert stored(study) == [("left", 3, AS_STORED, "It says more", 1)]
        page.go_back()
        page.wait_for_url(address)
        assert picked(page) == list(WHOLE)
        pick(page, "left_1")
        send(page)
        assert stored(study)[1:] == [("left", 1, AS_STORED, "It says more", 2)]
        pick(page, *WHOLE)
        page.fill("textarea", "Killed")
        kill(page)
        page = phone.new_page()
        page.goto(address)
        assert picked(page) == ["left_1", *WHOLE[1:]]
        study.until(
            lambda session: (
                {"left_3", "left_1"}
                <= {
                    event["choice"]
                    for event in session.scalars(
                        select(StoredEvent.detail).where(StoredEvent.kind == "choice")
                    )
                }
            ),
            "the log has the choices that were picked, and was never refused",
        )
    assert (found.axe, found.wide) == ([], [])


def test_each_question_is_answered_by_keys_and_a_digit_in_the_reason_is_a_digit(
    desktop: BrowserContext, tmp_path: Path, written: Callable[..., Path]
) -> None:
    """Tab leads from question to question, digits pick, Enter saves; in Japanese, side by side."""
    found = Findings()
    with study_server(tmp_path, written(criteria=CRITERIA, reason="optional", language="ja")) as study:
        page = desktop.new_page()
        begin(page, study)
        found.look(page, "graded-pair-japanese", "desktop")
        page.locator("[name=choice]").first.focus()
        for digit in "1452":
            page.keyboard.press(digit)
            page.keyboard.press("Tab")
        expect(page.locator("textarea")).to_be_focused()
        page.keyboard.type("7 words")
        assert picked(page) == list(WHOLE)
        page.locator("[name='criterion-3']:checked").focus()
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert stored(study) == [("left", 3, AS_STORED, "7 words", 1)]
    assert (found.axe, found.wide) == ([], [])


def test_a_form_without_script_comes_back_with_what_is_missing(
    browser: Browser, tmp_path: Path, written: Callable[..., Path]
) -> None:
    """The server says which question has no answer, and keeps the others; the time is from its clock."""
    with study_server(tmp_path, written(criteria=CRITERIA, choices="graded5")) as study:
        context = browser.new_context(**PHONE, java_script_enabled=False)  # type: ignore[arg-type]
        page = context.new_page()
        begin(page, study)
        pick(page, "left_2", "right_1")
        refused = page.request.post(page.url, form=fields(page))
        assert (refused.status, stored(study)) == (422, [])
        assert "Please answer every question." in refused.text()
        pick(page, "left_2", "right_1", "left_1", "equally_good")
        send(page)
        context.close()
        criteria = {"correct": ["right", 1], "complete": ["left", 1], "short": ["equally_good", 0]}
        assert stored(study) == [("left", 2, criteria, None, 1)]


def fields(page: Page) -> dict[str, str]:
    """Return the fields of the page's form as they stand."""
    hidden = page.locator("form.answer input[type=hidden]").all()
    sent = {str(box.get_attribute("name")): str(box.get_attribute("value") or "") for box in hidden}
    boxes = page.locator("form.answer input:checked").all()
    return sent | {str(box.get_attribute("name")): str(box.get_attribute("value")) for box in boxes}


def test_one_graded_question_stays_in_the_dock(
    browser: Browser, tmp_path: Path, written: Callable[..., Path]
) -> None:
    """Within the thumb's reach while one reads, as the four options are."""
    with study_server(tmp_path, written()) as study:
        for screen in (PHONE, DESKTOP):
            context = browser.new_context(**screen)  # type: ignore[arg-type]
            page = context.new_page()
            page.goto(f"{study.url}/s/answers?id={screen['viewport']}")
            send(page)
            dock = page.locator(".dock").bounding_box() or {}
            assert dock["y"] + dock["height"] <= screen["viewport"]["height"] + 1  # type: ignore[index]
            assert dock["height"] < 200
            context.close()
