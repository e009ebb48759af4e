"""The researcher's page: the right numbers, behind its key, and nothing that could harm."""

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import select

from study_app.services.researcher.progress import CountRange, QueryProgress, StreamProgress
from study_app.services.worker.ends import withdraw
from study_app.store.database import transaction
from study_app.store.models import Worker
from tests.study_app.every_task import write_every_task
from tests.study_app.small_streams import PROMPT
from tests.study_app.small_study import QUERIES, votes_task
from tests.study_app.stream_visits import HOUR, come_back, follow, stream_study

FUJI, TEA = QUERIES.values()


@pytest.fixture
def study(campaign):
    """Ann is done, Bob is at his second pair, Cleo has only come, Dan withdrew, Eve's lease has expired."""
    made = campaign(lease_minutes=10)
    made.at_pairs("eve", topic=FUJI).send(choice="left")
    made.clock.forward(601)
    made.judge_all(made.at_pairs("ann", topic=FUJI), "equally_good").send()
    made.at_pairs("bob", topic=FUJI).send(choice="right")
    made.arrive("cleo")
    made.judge_all(made.at_pairs("dan", topic=TEA)).send()
    with transaction(made.database, write=True) as session:
        code = session.scalars(select(Worker.withdrawal_code).order_by(Worker.id.desc()).limit(1)).one()
        assert withdraw(session, code, now=made.clock()) is not None
    return made


def test_workers_are_counted_by_how_far_they_came(study):
    """Who withdrew is counted where they were, and as withdrawn."""
    found = study.progress()
    assert (found.arrived, found.consented, found.completed, found.withdrawn) == (5, 4, 2, 1)


def test_each_query_shows_its_slots(study):
    """Done, live, and what is left; expired and withdrawn ones are free again."""
    [task] = study.progress().tasks
    assert task.queries == (
        QueryProgress(topic="SYQ-1", text=FUJI, done=1, live=1, room=1),
        QueryProgress(topic="SYQ-2", text=TEA, done=0, live=0, room=3),
    )


def test_judgments_a_pair_count_no_repeats_and_nobody_who_withdrew(study):
    """Three pairs of one query have Ann's, one each Bob's and Eve's; three of the other none."""
    [task] = study.progress().tasks
    assert task.judgments_per_pair.low == 0
    assert task.judgments_per_pair.high in {2, 3}
    assert task.judgments_per_pair.middle == 0.5
    assert task.side_difference == CountRange(low=0, middle=0, high=0)


def test_answers_and_failures_of_the_exclusion_rule_are_counted(study):
    """The repeat is no answer more. Ann was consistent; one repeat is too few to judge consistency by; everybody searched for long enough."""
    found = study.progress()
    assert found.choices == {"left": 1, "right": 1, "equally_good": 3, "equally_bad": 0}
    assert [(one.name, one.failed, one.judged) for one in found.checks] == [
        ("search", 0, 3),
        ("consistency", 0, 0),
        ("dwell", 0, 1),
        ("straight_lining", 0, 0),
    ]


def test_a_hurried_worker_fails_by_search_time(campaign):
    """Whoever left between the server's limit and the exclusion rule's."""
    study = campaign()
    ann = study.arrive().send().send(topic="1")
    study.clock.forward(70)
    ann.send()
    search = study.progress().checks[0]
    assert (search.name, search.failed, search.judged, search.rate) == ("search", 1, 1, 1.0)


def overview(study, name="small"):
    """What the first page of the console says."""
    answer = study.console(study=name).get(f"/r/{name}/")
    assert answer.status_code == 200
    return answer.text


def test_the_page_shows_it(study):
    """Workers by how far they came, tasks with their places, answers, checks."""
    text = " ".join(BeautifulSoup(overview(study), "html.parser").get_text(" ").split())
    for piece in (
        "A small study",
        "5 came, 4 consented, 2 finished, 1 withdrew.",
        "minimum dwell",
        "summary_pairs 3 1 1 done, 1 live, 4 free",
        "median 0.5",
        "equally good 3",
        "repeats not counted",
    ):
        assert piece in text


def test_the_page_names_nobody(study):
    """Neither platform ids nor pseudonyms nor codes."""
    text = overview(study)
    for row in study.rows(select(Worker.pseudonym, Worker.withdrawal_code, Worker.completion_code)):
        assert not any(value in text for value in row if value)
    for name in ("ann", "cleo"):
        assert f">{name}<" not in text


def test_a_study_without_limits_and_pairs_has_a_page_too(campaign):
    """No limit is shown as such."""
    study = campaign(tasks=[votes_task(votes_per_query=None)])
    assert "no limit" in overview(study)
    [task] = study.progress().tasks
    assert task.judgments_per_pair is None


def test_streams_are_counted(campaign):
    """Ann has read and answered, Bob never came, Cleo has withdrawn; the days of nobody are over, then of all."""
    study = stream_study(campaign, systems={"sysprompt": PROMPT, "syslate": PROMPT})
    ann = follow(study, "ann")
    for name in ("bob", "cleo"):
        follow(study, name)
    with transaction(study.database, write=True) as session:
        session.scalars(select(Worker).where(Worker.number == 3)).one().withdrawn_at = study.clock()
    come_back(study, ann, after_hours=60).send(read=["u4", "u3"], done="1").send(**{"useful-2": "no"})
    [task] = study.progress().tasks
    assert task.streams == StreamProgress(
        following=2,
        never_came=1,
        per_stream=CountRange(low=1, middle=1, high=1),
        asked=2,
        answered=1,
        reminders=0,
    )
    assert [(query.done, query.live) for query in task.queries] == [(0, 2)]
    study.clock.forward(36 * HOUR)
    [task] = study.progress().tasks
    assert (task.streams.following, task.streams.never_came) == (0, 1)
    assert [(query.done, query.live) for query in task.queries] == [(2, 0)]
    page = overview(study)
    assert "answered: 1." in page
    assert "Exclusion rule" not in page
    assert "sysprompt" not in page


def test_every_kind_of_task_is_counted_by_what_it_leases(campaign, tmp_path):
    """Pairs of push streams and intents one by one, queries whole, questions without an end."""
    study = campaign()
    (tmp_path / "every").mkdir()
    kinds = {
        "questions": {},
        "stream_pairs": {"judgments_per_pair": 2, "pairs_per_worker": 1},
        "iunit_importance": {"assessors_per_iunit": 2},
        "ranked_pairs": {"judgments_per_pair": 2},
    }
    study.load_file(write_every_task(tmp_path / "every", tasks=kinds))
    ann = study.arrive("ann", study="every").send().send(**{"q-phone": "1"})
    ann.send(choice="left")

    def rows():
        tasks = study.progress("every").tasks
        return {task.kind: [(one.done, one.live, one.room) for one in task.queries] for task in tasks}

    counted = rows()
    assert counted["questions"] == [(1, 0, None)]
    assert sorted(counted["stream_pairs"]) == [(0, 0, 6), (1, 0, 5)]
    assert sorted(counted["iunit_importance"]) == [(0, 0, 4), (0, 1, 3)]
    assert all(room == 2 for _, _, room in counted["ranked_pairs"])
    page = overview(study, "every")
    assert "Judgments of each pair: 0 to 1" in page
