"""Graded choices, asked criteria, reasons and gold pairs: from the study file to pages, the database, exports and the console."""

from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
import yaml
from sqlalchemy import select

from calibration.tables.files import read_tables
from metrics.errors import InputError
from study_app.estimate.content import read_whole_study
from study_app.estimate.estimate import assumptions, estimate
from study_app.export.readings import shown_texts
from study_app.export.study_export import export_study
from study_app.store.care import care_checks
from study_app.store.database import transaction
from study_app.store.models import Judgment, LoadedStudy, Pair, Showing, Worker
from study_app.store.results_views import count_judgments
from study_app.store.study_cache import read_plan
from study_app.web.console.material import pair_matrix, votes_so_far
from tests.study_app.conftest import Campaign
from tests.study_app.small_study import SYSTEMS, write_small_study

CRITERIA = [
    "Think of somebody in a hurry.",
    {"name": "correct", "text": "Which is more correct?"},
    {"name": "short", "text": "Which is shorter?"},
]
GRADED = {"choices": "graded5", "criteria": CRITERIA, "reason": "optional", "search_seconds": 0}
GOLD = "topic\ta\tb\tanswer\nSYQ-1\tsysbeta\tsysalpha\tsysalpha\nSYQ-2\tsysalpha\tsysbeta\tequally_good\n"
ALL = {"choice": "left_2", "criterion-1": "equally_good", "criterion-2": "right_1"}


@pytest.fixture
def gold_task(tmp_path):
    """Return the keys of a task with gold pairs, whose file stands in the folder of the study."""

    def keys(text=GOLD, **changes):
        (tmp_path / "gold.tsv").write_text(text, encoding="utf-8")
        return {"gold_pairs": str(tmp_path / "gold.tsv"), "validation_pairs": 0, **changes}

    return keys


def answers(campaign):
    """Return choice, strength, criteria, reason and revision of every answer, in order."""
    stored = select(Judgment.choice, Judgment.strength, Judgment.criteria, Judgment.reason, Judgment.revision)
    return [tuple(row) for row in campaign.rows(stored.order_by(Judgment.id))]


def exported(campaign, folder, **options):
    """Export the small study, and read its tables as later stages do."""
    with transaction(campaign.database, write=False) as session:
        study = session.scalars(select(LoadedStudy)).one()
        export_study(session, study, folder, now=campaign.clock(), **options)
    return read_tables(folder)


@pytest.mark.both_databases
def test_a_whole_answer_is_stored_once_and_a_changed_part_is_a_revision(campaign, tmp_path):
    """Reload, Back, a double click and a form that comes back lose nothing; the table has the newest revision."""
    made = campaign(task=GRADED)
    ann = made.at_pairs()
    first, form = ann.path, ann.form()
    made.clock.forward(10)
    ann.send(**ALL, reason=" It is\r\nshorter. ")
    ann.send(form=form, to=first, **ALL, reason="It is\nshorter.")
    whole = ("left", 2, {"correct": ["equally_good", 0], "short": ["right", 1]}, "It is\nshorter.")
    assert answers(made) == [(*whole, 1)]
    ann.open(first)
    assert [ann.checked(name) for name in ALL] == [[value] for value in ALL.values()]
    assert ann.html.select_one("textarea").get_text().strip() == "It is\nshorter."
    for changed in ({"criterion-2": "left_1"}, {"reason": "Other words"}, {"choice": "left_1"}):
        ann.open(first).send(**{**ALL, "reason": "It is\nshorter.", **changed})
    assert [row[4] for row in answers(made)] == [1, 2, 3, 4]
    assert answers(made)[3] == ("left", 1, *whole[2:], 4)
    tables = exported(made, tmp_path / "tables")
    assert tables["preferences"][["choice", "strength", "revision"]].to_numpy().tolist() == [["left", 1, 4]]
    assert tables["criteria"].drop(columns="judgment").to_numpy().tolist() == [
        ["correct", "equally_good", 0],
        ["short", "right", 1],
    ]


def test_reasons_leave_only_with_texts(campaign, tmp_path):
    """And the raw tables have what is asked of the others."""
    made = campaign(task=GRADED)
    made.at_pairs().send(**ALL, reason="Ask Ann Smith")
    for folder, texts in (("plain", False), ("texts", True)):
        exported(made, tmp_path / folder, raw=True, texts=texts)
        written = [path for path in (tmp_path / folder).rglob("*.csv") if "Smith" in path.read_text()]
        assert {path.name for path in written} == ({"judgments.csv", "preferences.csv"} if texts else set())
    raw = pd.read_csv(tmp_path / "plain" / "raw" / "judgments.csv").iloc[0]
    assert (raw["strength"], raw["criteria"]) == (
        2,
        '{"correct": ["equally_good", 0], "short": ["right", 1]}',
    )


@pytest.mark.parametrize(
    ("changes", "sent", "says"),
    [
        ({}, {"criterion-2": None}, "Please answer every question."),
        ({}, {"choice": "left"}, "Please answer every question."),
        ({}, {"criterion-1": "left_3"}, "Please answer every question."),
        ({}, {"reason": "x" * 501}, "Please write at most 500 characters."),
        ({"reason": "required"}, {"reason": " \n"}, "Please write in a few words why."),
        ({"language": "ja"}, {"choice": None}, "すべての質問にお答えください。"),
    ],
)
def test_a_form_with_a_fault_comes_back_as_it_was_filled_in(campaign, changes, sent, says):
    """Nothing of it is stored."""
    made = campaign(task=GRADED | changes)
    ann = made.at_pairs()
    fields = {key: value for key, value in {**ALL, "reason": "why", **sent}.items() if value is not None}
    ann.send(**fields)
    assert (ann.status, answers(made)) == (422, [])
    assert says in ann.text
    for name in ALL:
        valid = fields.get(name) in ann.options(name)
        assert ann.checked(name) == ([fields[name]] if valid else [])
    assert ann.html.select_one("textarea").get_text().strip() == fields["reason"].strip()
    (focus,) = ann.html.select("[autofocus]")
    missing = next((name for name in ALL if not ann.checked(name)), "reason")
    assert focus["name"] == missing, "the browser begins there, far below the texts"


def test_a_worker_who_withdraws_takes_criteria_and_reasons_along(campaign, tmp_path, gold_task):
    """Only the row that says so stays."""
    made = campaign(task=gold_task(**GRADED))
    ann = made.at_pairs()
    code = made.rows(select(Worker.withdrawal_code))[0][0]
    while "/pair/" in ann.step:
        ann.send(**ALL, reason="Ask Ann Smith")
    made.visitor().open("/withdraw").send(code=code)
    tables = exported(made, tmp_path / "tables", texts=True)
    assert tables["preferences"].empty
    assert tables["criteria"].empty
    assert tables["workers"].filter(["gold_right"]).isna().all().all()


def test_pages_without_these_keys_are_as_they_were(campaign, tmp_path):
    """No column, no table, no field."""
    made = campaign(task={"search_seconds": 0})
    ann = made.at_pairs()
    assert list(ann.options("choice")) == ["left", "right", "equally_good", "equally_bad"]
    assert not ann.html.select("textarea, [name^=criterion]")
    ann.send(choice="equally_bad", reason="not asked", **{"criterion-1": "left"})
    assert answers(made) == [("equally_bad", None, None, None, 1)]
    exported(made, tmp_path / "tables")
    assert not (tmp_path / "tables" / "criteria.csv").exists()
    header = (tmp_path / "tables" / "preferences.csv").read_text().splitlines()[0].split(",")
    assert not {"strength", "reason", "gold"} & set(header)


def test_seven_steps_and_the_four_options_serve_criteria_too(campaign):
    """All questions of a page have the same options."""
    made = campaign(task={**GRADED, "choices": "graded7"})
    ann = made.at_pairs()
    assert list(ann.options("choice")) == list(ann.options("criterion-2"))
    assert ann.options("choice")["right_3"] == "B much better"
    assert len(ann.options("choice")) == 7


@pytest.mark.both_databases
def test_gold_pairs_come_among_others_and_count_in_nothing(campaign, gold_task, tmp_path):
    """The export has the known answer by the sides shown, and the rule sees who answers wrongly; progress and results do not."""
    task = {"name": "summaries", "search_seconds": 0, "queries_per_worker": 2, "workers_per_query": 9}
    made = campaign(task=gold_task(**task))
    with transaction(made.database, write=False) as session:
        known = dict(session.execute(select(Pair.id, Pair.gold).where(Pair.gold.is_not(None))).all())
    assert sorted(known.values()) == ["a", "equally_good"]
    for name in ("ann", "bob"):
        visitor = made.at_pairs(name)
        while "/choose" in visitor.step or "/pair/" in visitor.step:
            if "/choose" in visitor.step:
                visitor.send(topic=next(iter(visitor.options("topic"))))
            else:
                assert "gold" not in visitor.response.text.lower()
                visitor.send(choice="left")
    tables = exported(made, tmp_path / "tables")
    rows = tables["preferences"]
    gold = rows[rows["gold"].notna()]
    assert len(gold) == 4
    assert len(rows) == 12
    sided = gold[gold["gold"] != "equally_good"]
    better = sided["system_left"].where(sided["gold"] == "left", sided["system_right"])
    assert set(better) == {"sysalpha"}
    right = (gold["gold"] == "left").groupby(gold["worker"]).mean()
    assert tables["workers"].set_index("worker")["gold_right"].to_dict() == right.to_dict()
    progress = made.progress()
    assert (progress.tasks[0].judgments_per_pair.low, progress.tasks[0].judgments_per_pair.high) == (2, 2)
    assert sum(progress.choices.values()) == 8
    with transaction(made.database, write=False) as session:
        plan = read_plan(session, session.scalars(select(LoadedStudy.id)).one())
        checks = care_checks(session, plan, select(Worker.id))
        (votes,), (task,) = votes_so_far(session, plan), plan.tasks
        matrix, counted = pair_matrix(session, task), count_judgments(session, plan.id)
    assert all("gold" not in check.excluded for check in checks.values()), "two are too few"
    assert (matrix.judgments, matrix.gold, counted) == (8, 4, 8)
    assert sum(pair.judgments for pair in votes.pairs) == 8
    with transaction(made.database, write=False) as session:
        positions = session.execute(select(Showing.position).where(Showing.pair_id.in_(known))).scalars()
        assert all(position > 1 for position in positions)


ANSWERS = Path(__file__).resolve().parents[3] / "examples" / "answers"


@pytest.fixture
def answer_study(tmp_path):
    """Write the bundled study of answers, with some changes and some gold pairs."""

    def write(gold, **changes):
        (tmp_path / "gold.tsv").write_text("".join(f"{line}\n" for line in gold), encoding="utf-8")
        study = yaml.safe_load((ANSWERS / "study.yaml").read_text(encoding="utf-8"))
        task = study["tasks"][0] | {"gold_pairs": "gold.tsv", "validation_pairs": 0, **changes}
        task["collection"] = {"topics": str(ANSWERS / "collection" / "topics.tsv")}
        task["systems"] = {name: str(ANSWERS / path) for name, path in task["systems"].items()}
        study |= {"study": "small", "consent": "Nobody reads this.", "tasks": [task]}
        (tmp_path / "answers.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
        return tmp_path / "answers.yaml"

    return write


@pytest.fixture
def of_answers(tmp_path, new_url, answer_study):
    """Serve the bundled study of answers, with some changes."""
    made = []

    def serve(gold, **changes):
        (tmp_path / "server").mkdir()
        made.append(Campaign(tmp_path / "server", new_url(tmp_path / "server")))
        made[-1].load_file(answer_study(gold, **changes))
        return made[-1].serve()

    yield serve
    for one in made:
        one.database.engine.dispose()


LEAVES = [f"leaves\t{a}\t{b}\t{a}" for a, b in combinations(("cited", "outline", "brief"), 2)]
"""All pairs of one of the two topics, which has gold pairs alone then."""


@pytest.mark.parametrize(
    "pairs", ["all", {"adaptive": "best", "budget": 40, "uniform_share": 0.5, "stop_at": None}]
)
def test_who_answers_gold_pairs_wrongly_is_left_out_and_the_console_says_the_same(
    of_answers, pairs, tmp_path
):
    """They come with the last pair, of a topic that has no others; the answers so far choose no gold pair."""
    limits = {} if pairs == "all" else {"judgments_per_pair": None}
    made = of_answers(LEAVES, pairs=pairs, pairs_per_worker=3, instructions=None, **limits)
    for name, is_right in (("ann", True), ("bob", False)):
        visitor = made.arrive(name).send()
        number = 0
        while "/pair/" in visitor.step:
            number += 1
            assert f"Pair {number} of 6" in visitor.text
            assert ("leaves" in visitor.html.select_one("[data-query]").text) == (number > 3)
            made.clock.forward(20)
            choice = "left" if number < 4 or left_is_better(made) == is_right else "right"
            visitor.send(choice=choice)
        assert number == 6
    tables = exported(made, tmp_path / "tables")
    workers = tables["workers"].sort_values("gold_right")
    assert workers["gold_right"].tolist() == [0.0, 1.0]
    assert workers["excluded"].tolist() == [True, False]
    assert workers["reason"].tolist()[0] == "rule 2: gold"
    with transaction(made.database, write=False) as session:
        plan = read_plan(session, session.scalars(select(LoadedStudy.id)).one())
        shown = {topic for topic, _ in shown_texts(session, plan.id).now}
        assert shown == set(session.scalars(select(Pair.topic_id).join(Showing, Showing.pair_id == Pair.id)))
        checks = care_checks(session, plan, select(Worker.id)).values()
    assert sorted(check.excluded for check in checks) == [(), ("gold",)]
    assert all("gold" in check.judged for check in checks)
    assert "gold pairs" in made.console().get("/r/small/").text


def left_is_better(made):
    """Return whether the left side of the gold pair that is to be answered now is the better one."""
    with transaction(made.database, write=False) as session:
        showing = session.scalars(
            select(Showing).outerjoin(Showing.judgments).where(Judgment.id.is_(None)).order_by(Showing.id)
        ).first()
        pair = showing.pair
        return {"a": pair.system_a_id, "b": pair.system_b_id}[pair.gold] == showing.left_system_id


def test_a_study_of_gold_pairs_alone_is_one_fault(answer_study):
    """There would be nothing to judge."""
    every = [f"smallpox\t{a}\t{b}\t{b}" for a, b in combinations(("cited", "outline", "brief", "passage"), 2)]
    with pytest.raises(InputError) as raised:
        read_whole_study(answer_study([*LEAVES, *every]))
    (fault,) = raised.value.faults
    assert fault.problem == "all pairs are gold pairs, whose answers are known"


def test_the_page_before_a_graded_task_speaks_of_its_answers(of_answers):
    """The example's people answer on the scale; the check asks nothing that the scale has not."""
    made = of_answers(LEAVES, choices="graded7", instructions="standard")
    ann = made.arrive().send()
    assert "A much better" in ann.text
    assert "B slightly better" in ann.text
    assert "equally bad" not in ann.text


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"choices": "graded6"}, "tasks.1.choices must be 'four', 'graded5' or 'graded7', got 'graded6'"),
        ({"reason": "yes"}, "tasks.1.reason must be 'optional' or 'required', got 'yes'"),
        (
            {"criteria": [{"name": "a b", "text": "?"}]},
            "tasks.1.criteria.1.name has a form that is not allowed",
        ),
        ({"criteria": [{"name": "ab"}]}, "tasks.1.criteria.1.text is missing"),
        ({"criteria": [{"name": "ab", "text": "?", "of": 1}]}, "tasks.1.criteria.1.of is not known"),
        ({"criteria": [{"name": "ab", "text": "?"}] * 2}, "two criteria are named 'ab'"),
        ({"criteria": [3]}, "tasks.1.criteria.1 must be text, got '3'"),
        ({"min_gold": 1.5}, "tasks.1.min_gold must be at most 1, got '1.5'"),
        ({"gold_pairs": "none.tsv"}, "gold_pairs: there is no file none.tsv"),
    ],
)
def test_faults_of_the_study_file_are_one_line_each(tmp_path, changes, fault):
    """With the line and a cure."""
    with pytest.raises(InputError) as raised:
        read_whole_study(write_small_study(tmp_path, task=changes))
    (line,) = [f"{one.problem}" for one in raised.value.faults]
    assert fault in line
    assert raised.value.faults[0].line
    assert raised.value.faults[0].cure


@pytest.mark.parametrize(
    ("text", "changes", "fault"),
    [
        ("SYQ-1\tsysalpha\tsysbeta\tleft\n", {}, "the answer is left, which is no system of the pair"),
        ("SYQ-1\tsysalpha\tsysbeta\n", {}, "4 fields expected, got 3"),
        ("SYQ-9\tsysalpha\tsysbeta\tsysbeta\n", {}, "there is no topic SYQ-9"),
        ("SYQ-1\tsysalpha\tsysbata\tsysbeta\n", {}, "there is no system sysbata"),
        ("SYQ-1\tsysalpha\tsysbeta\tsysbeta\nSYQ-1\tsysbeta\tsysalpha\tsysbeta\n", {}, "duplicate couple"),
        ("topic\ta\tb\tanswer\n", {}, "there are no pairs"),
        (
            "".join(f"SYQ-1\t{a}\t{b}\t{b}\n" for a, b in combinations(SYSTEMS, 2)),
            {},
            "topic SYQ-1 has gold pairs alone, and workers choose a topic to judge its pairs",
        ),
        (
            "SYQ-2\tsysalpha\tsysbeta\tsysbeta\n",
            {"pairs": "pairs.tsv"},
            "topic SYQ-2 has gold pairs alone",
        ),
        (
            "SYQ-1\tsysalpha\tsysbeta\tsysbeta\n",
            {"pairs": "pairs.tsv"},
            "sysalpha and sysbeta of topic SYQ-1 are a gold pair too",
        ),
    ],
)
def test_faults_of_gold_pairs_are_one_line_each(tmp_path, gold_task, text, changes, fault):
    """Of the file of gold pairs or of the pairs."""
    (tmp_path / "pairs.tsv").write_text("SYQ-1\tsysbeta\tsysalpha\n")
    with pytest.raises(InputError) as raised:
        read_whole_study(write_small_study(tmp_path, task=gold_task(text, **changes)))
    (line,) = [one.problem for one in raised.value.faults]
    assert fault in line


def test_a_running_study_keeps_its_known_answers(campaign, gold_task):
    """A pair that was judged cannot become one with a known answer, and a known answer does not change."""
    made = campaign(task=gold_task(search_seconds=0))
    made.at_pairs().send(choice="left")
    for text, says in (
        (GOLD.replace("sysalpha\tsysalpha", "sysalpha\tsysbeta"), "sysalpha, sysbeta differs"),
        (GOLD + "SYQ-1\tsysalpha\tsysgamma\tsysgamma\n", "sysalpha, sysgamma differs"),
    ):
        with pytest.raises(InputError) as raised:
            made.load(task=gold_task(text, search_seconds=0))
        (fault,) = raised.value.faults
        assert f"the known answer of {says}" in fault.problem


def test_study_check_counts_the_time_and_the_gold(tmp_path, gold_task):
    """Criteria and reasons take time, and fewer than three gold pairs exclude nobody."""
    plain = estimate(read_whole_study(write_small_study(tmp_path, task={"validation_pairs": 0})))
    asked = estimate(
        read_whole_study(write_small_study(tmp_path, task=gold_task(**GRADED | {"search_seconds": 60})))
    )
    assert asked.tasks[0].seconds.high > plain.tasks[0].seconds.high
    assert "2 to 6 s for each criterion" in assumptions([asked.tasks[0].content.entry])
    assert any("a worker gets 1 gold pair in all" in line for line in asked.warnings)


def test_the_console_shows_reasons_and_gold_to_who_may_see_sides(campaign, gold_task):
    """A worker's timeline has what was said, and people's table how many gold pairs were right."""
    made = campaign(task=gold_task(**GRADED))
    ann = made.at_pairs()
    while "/pair/" in ann.step:
        ann.send(**ALL, reason="Shorter by far")
    client = made.console()
    people = client.get("/r/small/people").text
    assert "gold 0 of 1" in people or "gold 1 of 1" in people
    pseudonym = made.rows(select(Worker.pseudonym))[0][0]
    person = client.get(f"/r/small/people/{pseudonym}").text
    assert "left by 2, after" in person
    assert "short: right by 1" in person
    assert "reason: Shorter by far" in person
    assert "a gold pair answered" in person
    assert "gold pairs, not counted" in client.get("/r/small/material").text
