"""Steering a study that runs: what a change does, that it does what it said, and what is refused."""

from functools import partial

import pytest
from sqlalchemy import select

from metrics.errors import InputError
from study_app.cli.study.commands import what_is_collected
from study_app.estimate.content import read_whole_study
from study_app.estimate.estimate import estimate
from study_app.services.researcher.progress import SearchProgress, study_progress
from study_app.services.worker.entry import find_study
from study_app.store.database import transaction
from study_app.store.models import Topic
from study_app.store.study_cache import StudyCache
from study_app.store.task_models import Follow
from study_app.web.console import limits
from study_app.web.console.summary import _workers_left
from study_app.web.serving import NAME
from tests.study_app.every_task import write_every_task
from tests.study_app.small_study import QUERIES, pairs_task, votes_task
from tests.study_app.stream_visits import HOUR, come_back, follow, stream_study

FUJI, TEA = QUERIES.values()


def changed(study, change, *, name="small"):
    """Make a change to the study as it is now, and return what it said."""
    with transaction(study.database, write=True) as session:
        made = change(session, find_study(session, StudyCache(), name))
        if isinstance(made, limits.LimitChange):
            made.store()
        return made


def raised(study, limit):
    return changed(
        study,
        lambda session, plan: limits.raise_limit(session, plan, plan.tasks[0], limit, now=study.clock()),
    )


def test_a_higher_limit_lets_more_in_and_says_how_many_and_for_how_much(campaign):
    """One of two queries each: two workers more fill the one place that each query gets; who was away as full can come."""
    study = campaign(tasks=[pairs_task(workers_per_query=1)], reward=2, currency="GBP", platform_fee=0.25)
    study.at_pairs("ann", topic=FUJI)
    study.at_pairs("bob", topic=TEA)
    assert study.arrive("cleo").status == 409
    said = raised(study, 2)
    assert said.title == "Raise workers_per_query of task pairs from 1 to 2"
    assert said.effects[:2] == (
        "Up to 2 more workers can come for this task: 4 instead of 2.",
        "That costs up to 5.00 GBP more, the platform's fee included.",
    )
    assert study.arrive("cleo").status == 200


def test_a_lower_limit_is_refused_here_and_when_the_old_file_is_loaded_again(campaign):
    """Answers beyond it could not be taken back."""
    study = campaign(tasks=[pairs_task(workers_per_query=2)])
    study.at_pairs("ann")
    with pytest.raises(InputError, match="is not more"):
        raised(study, 2)
    raised(study, 3)
    with pytest.raises(InputError, match="workers_per_query: 3 -> 2 would corrupt answers"):
        study.load_file(study.folder / "study.yaml")


def test_a_closed_query_is_taken_by_nobody_while_who_has_it_goes_on(campaign):
    """It comes back when it is opened again."""
    study = campaign(tasks=[pairs_task(workers_per_query=3)])
    ann = study.at_pairs("ann", topic=FUJI)
    with transaction(study.database, write=False) as session:
        row = session.scalars(select(Topic.id).where(Topic.text == FUJI)).one()
    close = partial(limits.close_topic, row=row, now=study.clock())
    said = changed(study, close)
    assert said.effects[1:3] == (
        "Workers who have it now go on with it to the end: 1 worker.",
        "Others of this task that have room: 1.",
    )
    with pytest.raises(InputError, match="closed already"):
        changed(study, close)
    assert list(study.arrive("bob").send().options("topic").values()) == [TEA]
    assert study.judge_all(ann).send().step == "done"
    changed(study, partial(limits.open_topic, row=row))
    assert set(study.arrive("cleo").send().options("topic").values()) == {FUJI, TEA}


def test_closing_the_last_query_lets_nobody_in_and_says_so(campaign):
    """It is said before it is done."""
    study = campaign(tasks=[pairs_task()])
    with transaction(study.database, write=False) as session:
        rows = session.scalars(select(Topic.id)).all()
    said = [changed(study, partial(limits.close_topic, row=row, now=study.clock())) for row in rows]
    assert said[-1].effects[2] == "Nothing else of task pairs has room. So nobody new is let in."
    assert study.arrive("ann").status == 409


def test_days_are_extended_for_all_who_follow_until_somebodys_are_over(campaign):
    """Then people would have followed for different times."""
    study = stream_study(campaign, task={"days": 1})
    ann = follow(study, "ann")
    with transaction(study.database, write=False) as session:
        [before] = session.scalars(select(Follow.ends_at))

    def extend(session, plan, days):
        return limits.extend_days(
            session, study.app.extensions[NAME].plans, plan, plan.tasks[0], days, now=study.clock()
        )

    said = changed(study, partial(extend, days=1.5))
    assert said.effects[0].startswith("1 stream that people follow now go on")
    with transaction(study.database, write=False) as session:
        [after] = session.scalars(select(Follow.ends_at))
    assert after > before
    study.clock.forward((before - study.clock()).total_seconds() + 1)
    assert ann.open(ann.home).step.endswith("stream")
    study.clock.forward(48 * HOUR)
    with pytest.raises(InputError, match="the days of 1 stream are over"):
        changed(study, partial(extend, days=3))
    assert come_back(study, ann, after_hours=1).step != "1/1/stream"


def test_as_many_workers_fill_the_study_as_its_estimate_says(campaign, tmp_path):
    """For every kind of task, though the collection is not read again."""
    study = campaign()
    (tmp_path / "every").mkdir()
    path = write_every_task(tmp_path / "every")
    study.load_file(path)
    content = read_whole_study(path)
    with transaction(study.database, write=False) as session:
        plan = find_study(session, StudyCache(), "every")
    assert limits.planned_workers(plan) == estimate(content).workers
    tasks = [task.capacity and task.capacity.workers for task in estimate(content).tasks]
    assert [limits.workers_for(task, task.limit) for task in plan.tasks if task.opens_study] == [
        workers for workers, task in zip(tasks, plan.tasks, strict=True) if task.opens_study
    ]


def test_a_search_for_the_best_is_full_when_its_budget_is_used(campaign, tmp_path):
    """As many workers as the budget has judgments for; check, console and the overview say so."""
    study = campaign()
    (tmp_path / "every").mkdir()
    adaptive = {"adaptive": "best", "budget": 10, "stop_at": None}
    path = write_every_task(
        tmp_path / "every", tasks={"stream_pairs": {"pairs": adaptive, "pairs_per_worker": 3}}
    )
    study.load_file(path)
    with transaction(study.database, write=False) as session:
        plan = find_study(session, StudyCache(), "every")
        progress = study_progress(session, plan, complete=frozenset(), now=study.clock())
    said = what_is_collected(estimate(read_whole_study(path)).tasks[0].capacity)

    assert limits.planned_workers(plan) == 4
    assert said.startswith("4 workers; at most 10 judgments of ")
    assert progress.tasks[0].search == SearchProgress(shown=0, budget=10, best=None, is_over=False)
    assert _workers_left(plan, progress.tasks) == 4


def test_there_is_nothing_to_raise_without_a_limit(campaign):
    """Nor a query of another study to close."""
    study = campaign(tasks=[votes_task(votes_per_query=None)])
    with pytest.raises(InputError, match="has no limit"):
        raised(study, 5)
    with pytest.raises(InputError, match="no such query"):
        changed(study, partial(limits.close_topic, row=999, now=study.clock()))
    with pytest.raises(InputError, match="has no days"):
        changed(
            study,
            lambda session, plan: limits.extend_days(
                session, StudyCache(), plan, plan.tasks[0], 3, now=study.clock()
            ),
        )
