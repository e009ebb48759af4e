"""A worker goes through the whole study in a browser, and what is stored is what was clicked."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from study_app.export import export_study
from study_app.store.models import PageLoad, Showing, StoredEvent, StoredSummary, Worker
from tests.browser.conftest import PHONE, SCREENS
from tests.browser.study_server import (
    PAIRS,
    SEARCH_SECONDS,
    StudyServer,
    Volunteer,
    loads_of_pair,
    screenshots,
    study_server,
)

CHOICES = ("left", "equally_good", "right", "equally_bad")
WAYS = {**SCREENS, "no_script": {**PHONE, "java_script_enabled": False}}
SOAK = {"desktop", "no_script"}
"""What `test_accessibility` and `test_every_task` walk through too, with the same comparison, is walked here in `make soak`."""

ON_SCREENS = [pytest.param(way, marks=pytest.mark.soak) if way in SOAK else way for way in WAYS]
LAYOUTS = {"phone": "stacked", "desktop": "side_by_side", "no_script": None}


@dataclass(slots=True)
class Walked:
    """A study that somebody went through, and what they saw and did: the code, texts on each side and opened layers by pair."""

    screen: str
    study: StudyServer
    code: str = ""
    texts: dict[int, tuple[list[str], list[str]]] = field(default_factory=dict)
    opened: dict[int, set[tuple[str, str]]] = field(default_factory=dict)


def walk(volunteer: Volunteer, walked: Walked, *, changed: str) -> None:
    """Go through everything: open layers, reload in the middle, go back and change the first answer."""
    page = volunteer.page
    volunteer.arrive()
    volunteer.begin()
    volunteer.search()
    for number, choice in enumerate(CHOICES, 1):
        assert volunteer.pair == number
        volunteer.look(page, f"pair-{number}")
        walked.texts[number] = volunteer.texts("left"), volunteer.texts("right")
        walked.opened[number] = set(volunteer.open_links())
        volunteer.look(page, f"pair-{number}-open")
        if number == 2:
            page.reload()
            assert volunteer.pair == number
        volunteer.judge(choice)
        if number == 2:
            page.go_back()
            page.go_back()
            assert volunteer.pair == 1
            expect(page.locator(f"input[value={CHOICES[0]}]")).to_be_checked()
            volunteer.look(page, "pair-1-again")
            volunteer.judge(changed)
    volunteer.look(page, "finish")
    volunteer.press()
    volunteer.look(page, "done")
    walked.code = page.locator("[data-code]").inner_text()


@pytest.fixture(scope="module")
def walks(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Walked]]:
    """Go through the study once on each screen: a phone, a desktop, and a phone without JavaScript."""
    with ExitStack() as stack:

        @cache
        def on_screen(screen: str) -> Walked:
            study = stack.enter_context(study_server(tmp_path_factory.mktemp(screen)))
            walked = Walked(screen=screen, study=study)
            with browser.new_context(**WAYS[screen]) as context:  # type: ignore[arg-type]
                page = context.new_page()
                scripts = screen != "no_script"
                walk(
                    Volunteer(page, study, screenshots(screen), scripts=scripts),
                    walked,
                    changed="equally_bad",
                )
                page.goto("about:blank")
                if scripts:
                    study.until(every_page_closed, "the close of every page")
            return walked

        yield on_screen


def every_page_closed(session: Session) -> bool:
    closed = select(func.count()).select_from(StoredEvent).where(StoredEvent.kind == "close")
    loads = select(func.count()).select_from(PageLoad)
    last = select(PageLoad).where(PageLoad.step == "done")
    return bool(session.scalars(last).all()) and session.scalar(closed) == session.scalar(loads)


@pytest.mark.parametrize("screen", ON_SCREENS)
def test_what_is_stored_and_exported_is_what_was_clicked(
    screen: str, walks: Callable[[str], Walked], tmp_path: Path
) -> None:
    """On either screen, with scripts and without; the answer changed after Back counts, and the first one is kept."""
    walked = walks(screen)
    study = walked.study
    clicked = dict(enumerate(("equally_bad", *CHOICES[1:]), 1))
    stored = study.showings()
    assert {showing.position: showing.judgments[-1].choice for showing in stored} == clicked
    assert [judgment.choice for judgment in stored[0].judgments] == [CHOICES[0], "equally_bad"]
    timing = "server" if screen == "no_script" else "browser"
    assert {(answer.layout, answer.timing) for one in stored for answer in one.judgments} == {
        (LAYOUTS[screen], timing)
    }
    with study.reading() as session:
        assert session.scalars(select(Worker.completion_code)).one() == walked.code
        export_study(session, study.study(session), tmp_path / "tables", now=study())
    rows = pd.read_csv(tmp_path / "tables" / "preferences.csv")
    counting = rows.sort_values("revision").groupby("position").last()
    assert counting["choice"].to_dict() == clicked


@pytest.mark.parametrize("screen", ON_SCREENS)
def test_the_summaries_stand_on_the_sides_that_are_stored(
    screen: str, walks: Callable[[str], Walked]
) -> None:
    """Which system was left and which was right is what every analysis rests on."""
    walked = walks(screen)
    for showing in walked.study.showings():
        for shown, system in zip(
            walked.texts[showing.position], (showing.left_system_id, showing.right_system_id), strict=True
        ):
            assert shown == stored_texts(walked.study, showing, system)


def stored_texts(study: StudyServer, showing: Showing, system: int) -> list[str]:
    with study.reading() as session:
        wanted = select(StoredSummary).where(
            StoredSummary.topic_id == showing.pair.topic_id, StoredSummary.system_id == system
        )
        return [" ".join(item["text"].split()) for item in session.scalars(wanted).one().content["blocks"]]


@pytest.mark.parametrize("screen", ON_SCREENS[:2])
def test_the_log_holds_every_page_load_without_a_hole(screen: str, walks: Callable[[str], Walked]) -> None:
    """A page loaded again is another page; what was opened on it is in its log."""
    walked = walks(screen)
    with walked.study.reading() as session:
        top = select(PageLoad.upto, func.max(StoredEvent.number)).join(StoredEvent).group_by(PageLoad.id)
        assert all(upto == highest for upto, highest in session.execute(top))
        for number in range(1, PAIRS + 1):
            loads = [load.id for load in loads_of_pair(session, number)]
            layers = select(StoredEvent.detail).where(
                StoredEvent.page_load_id.in_(loads), StoredEvent.kind == "layer"
            )
            logged = [
                (detail["side"], detail["item"]) for detail in session.scalars(layers) if detail["open"]
            ]
            assert sorted(logged) == sorted(walked.opened[number])
        assert len(loads_of_pair(session, 2)) >= 2


def test_the_search_page_counts_down_and_lets_go_at_the_end(
    phone: BrowserContext, study: StudyServer
) -> None:
    """The button lights when nobody honest can be left out for leaving; the server is asked all the same."""
    page = phone.new_page()
    page.clock.install()
    volunteer = Volunteer(page, study)
    volunteer.arrive()
    volunteer.begin()
    expect(page.locator("form button")).to_be_disabled()
    expect(page.locator("[data-part=time]")).to_contain_text("3:1")
    page.clock.run_for(21_000)
    expect(page.locator("[data-part=said]")).to_contain_text("3:00")
    page.clock.fast_forward(SEARCH_SECONDS * 1000)
    expect(page.locator("form button")).to_be_enabled()
    volunteer.press()
    expect(page.locator("[role=alert]")).to_be_visible()
    study.move_on(SEARCH_SECONDS)
    page.goto(page.url)
    volunteer.press()
    assert volunteer.pair == 1
