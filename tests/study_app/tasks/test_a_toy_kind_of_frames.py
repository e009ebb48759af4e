"""A kind of task whose sides are no text of prefcal's: whole pages of HTML, each in a sandboxed frame, in one module.

As in `test_a_toy_kind`, what stands between the two lines of dashes is all that the kind is. Workers see two result pages for a query, and
say which is better. A page is worth its headings to them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest
from click.testing import CliRunner
from lxml.html import document_fromstring
from sqlalchemy import select
from werkzeug.test import Client

from calibration.tables.files import read_tables
from metrics.errors import Fault, InputError, input_fault
from metrics.readers.texts import read_ranked_topics
from study_app.cli import cli
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.preview.app import Preview
from study_app.preview.stations import PageRecipe
from study_app.protocol.sides import Side, text_block
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.task_truth import build_worlds
from study_app.simulate.trial import run_trial
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy
from study_app.study.entries import AssignedPairTask, collection_paths, expect_entry_type
from study_app.tasks import kinds
from study_app.tasks.content import AnswerFiles, TaskContent, TopicContent, source_files
from study_app.tasks.task_kind import SideForm, TaskKind
from study_app.tasks.workload import OPTIONS, PAIRS_ASSUMED, taken_capacity, taken_seconds, taking

# --------------------------------------------------------------------------------------------------------------------


class PagePairs(AssignedPairTask):
    """Judge pairs of result pages."""

    kind: Literal["page_pairs"]
    collection: AnswerFiles


def _read(folder: Path, task: PagePairs, faults: list[Fault]) -> TaskContent | None:
    try:
        topics = read_ranked_topics(folder / task.collection.topics)
        runs = {name: dict(_pages(folder / path)) for name, path in task.systems.items()}
    except InputError as error:
        faults += error.faults
        return None
    return TaskContent(
        entry=task,
        files=source_files(folder, collection_paths(task)),
        systems=source_files(folder, task.systems),
        topics=tuple(TopicContent(id=name, text=topic.text) for name, topic in topics.items()),
        sides={(topic, name): page for name, run in runs.items() for topic, page in run.items()},
    )


def _pages(path: Path) -> Iterator[tuple[str, Side]]:
    """Yield topic and page of each line ``{"topic", "html"}``."""
    for line, written in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        row = json.loads(written)
        if not row.get("html"):
            cure = "write html: a page"
            raise input_fault("a line without a page", path=path, line=line, cure=cure)
        words = " ".join(document_fromstring(row["html"]).body.text_content().split())
        block = text_block(words, key="r1", id=row["topic"], kind="link", html=row["html"])
        yield row["topic"], Side((block,))


def _worth(content: TaskContent, *_people: object) -> Mapping[tuple[str, str], float]:
    return {key: float(side.blocks[0].html.count("<h2>")) for key, side in content.sides.items()}


SIDE = """\
{% macro side(side, shown, content) %}
<section data-side="{{ side }}" data-content="{{ content }}" aria-labelledby="title-{{ side }}">
<h2 id="title-{{ side }}">{{ t("frame." ~ side) }}</h2>
{% for one in shown %}
<p data-item="{{ one.key }}"><iframe sandbox srcdoc="{{ one.html }}" title="{{ t("frame." ~ side) }}"></iframe></p>
{% endfor %}
</section>
{% endmacro %}
"""
ENGLISH = {
    "frame.heading": "Which page is better?",
    "frame.topic": "The query",
    "frame.help": "Look at both.",
    "frame.left": "Page A",
    "frame.right": "Page B",
    "guide.page_pairs": "You will see a query and two pages.\n\nSay which is better.",
    **{
        f"check.page_pairs.{place}{option}": f"{place}{option}?"
        for place in ("first", "second")
        for option in ("", "_1", "_2", "_3")
    },
}
PAGE_PAIRS = TaskKind(
    entry=PagePairs,
    criteria={"en": ("Does it answer the query?",), "ja": ("検索の答えになっていますか",)},
    page="pair",
    unit="pair",
    wanted_key="pairs_per_worker",
    limit_key="judgments_per_pair",
    read=_read,
    side=SideForm(name="frame"),
    check=(1, 2),
    seconds=lambda content: taken_seconds(content, expect_entry_type(content.entry, PagePairs)),
    assumed=PAIRS_ASSUMED,
    capacity=lambda content: taken_capacity(content, expect_entry_type(content.entry, PagePairs)),
    work=lambda content: taking(content, expect_entry_type(content.entry, PagePairs)),
    tables=frozenset({"preferences", "reads"}),
    worth=_worth,
    methods=lambda task: f"a worker judged result pages by {task.systems}: {OPTIONS}.",
    words={"en": ENGLISH, "ja": ENGLISH},
    templates={"sides/frame.html": SIDE, "examples/page_pairs.html": "<p>An example.</p>"},
)

# --------------------------------------------------------------------------------------------------------------------

TOPICS = {"Q1": "tram", "Q2": "ferry", "Q3": "bus"}
HEADINGS = {"rich": 3, "poor": 1, "none": 0}
STUDY = """\
study: pages
title: Pages
consent: Please take part.
tasks:
  - kind: page_pairs
    name: pages
    collection:
      topics: topics.tsv
    systems:
      rich: rich.jsonl
      poor: poor.jsonl
      none: none.jsonl
    validation_pairs: 0
    min_consistency: 0
"""


def page_of(topic: str, headings: int) -> str:
    """Return a page with so many headings; what it says is markup, and a script that must not run."""
    results = "".join(
        f"<h2>About the {topic} ({number})</h2><p>Words &amp; words</p>" for number in range(headings)
    )
    return f"<h1>{topic}</h1>{results}<script>top.location = 'https://example.org/'</script>"


def write_pages(folder: Path, headings: Mapping[str, int] = HEADINGS) -> Path:
    """Write the study; returns its study file."""
    (folder / "topics.tsv").write_text("".join(f"{name}\t{words}\n" for name, words in TOPICS.items()))
    for name, number in headings.items():
        lines = (
            json.dumps({"topic": topic, "html": page_of(words, number)}) for topic, words in TOPICS.items()
        )
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "study.yaml").write_text(STUDY)
    return folder / "study.yaml"


@pytest.fixture(scope="module", autouse=True)
def toy() -> Iterator[None]:
    """Put the kind into the table."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(kinds.KINDS, "page_pairs", PAGE_PAIRS)
        yield


def test_a_crowd_sees_the_pages_in_their_frames_and_prefers_by_their_worth(tmp_path, database_in):
    """Loaded, served, judged over HTTP, exported, and held against scores of one's own."""
    url = database_in(tmp_path)
    report, clock = run_trial(
        read_whole_study(write_pages(tmp_path)),
        url,
        workers=8,
        truth=CrowdParameters(),
        seed=1,
    )
    assert report.finished == 8
    database = open_database(url)
    assert check_database(database) == []
    with transaction(database, write=False) as session:
        export_study(session, session.scalars(select(LoadedStudy)).one(), tmp_path / "tables", now=clock())
    database.engine.dispose()
    tables = read_tables(tmp_path / "tables")
    assert set(tables["reads"]["kind"]) == {"link"}
    assert (tables["reads"]["words"] > 0).all()
    scores = [(name, topic, "headings", number) for name, number in HEADINGS.items() for topic in TOPICS]
    pd.DataFrame(scores, columns=["run", "topic", "metric", "value"]).to_csv(
        tmp_path / "scores.csv", index=False
    )
    typed = ["agree", tmp_path / "tables", "--scores", tmp_path / "scores.csv", "-o", tmp_path / "agree"]
    ended = CliRunner().invoke(cli, list(map(str, typed)), catch_exceptions=False)
    assert ended.exit_code == 0
    assert pd.read_csv(tmp_path / "agree" / "agreement.csv")["agreement"].max() > 0.7


def test_its_pair_page_has_each_page_whole_in_a_frame_that_may_do_nothing(tmp_path):
    """As the preview shows it: every character of the page is in the frame's attribute, none of it in the page around."""
    (tmp_path / "copies").mkdir()
    preview = Preview(read_whole_study(write_pages(tmp_path)), tmp_path / "copies")
    number = next(
        place
        for place, one in enumerate(preview.stations)
        if isinstance(one, PageRecipe) and one.name == "First pair"
    )
    shown = Client(preview).get(f"/open/{number}", follow_redirects=True).text
    frames = document_fromstring(shown).xpath("//section[@data-content]//iframe")
    assert [frame.get("sandbox") for frame in frames] == ["", ""]
    pages = {page_of(topic, number) for topic in TOPICS.values() for number in HEADINGS.values()}
    assert {frame.get("srcdoc") for frame in frames} <= pages
    assert "top.location" not in re.sub(r'srcdoc="[^"]*"', "", shown)


def test_two_systems_with_the_same_page_are_told_and_a_crowd_that_would_tell_them_apart_ends(
    tmp_path, monkeypatch
):
    """The check says of which topics; what looks the same cannot be worth more."""
    content = read_whole_study(write_pages(tmp_path, {**HEADINGS, "poor": 3}))
    told = CliRunner().invoke(cli, ["study", "check", str(tmp_path / "study.yaml")]).output
    assert "rich and poor show the same of 3 of 3 topics (Q1, Q2, Q3)" in told
    assert build_worlds(content, CrowdParameters())[1].world.sides

    by_name = {(topic, name): float(len(name)) + (name == "rich") for topic in TOPICS for name in HEADINGS}
    unlike = replace(PAGE_PAIRS, worth=lambda *_task: by_name)
    monkeypatch.setitem(kinds.KINDS, "page_pairs", unlike)
    with pytest.raises(
        InputError, match="rich and poor show the same of topic Q1 but are not worth the same"
    ):
        build_worlds(content, CrowdParameters())


def test_a_kind_that_does_not_say_what_a_side_is_worth_is_told_so(tmp_path, monkeypatch):
    """A crowd does not vote at random in silence."""
    content = read_whole_study(write_pages(tmp_path))
    monkeypatch.setitem(kinds.KINDS, "page_pairs", replace(PAGE_PAIRS, worth=None))
    with pytest.raises(InputError, match="task pages: page_pairs does not say what a side is worth"):
        build_worlds(content, CrowdParameters())
