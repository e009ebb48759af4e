"""`prefcal db check` on introductions, ratings and answers: each rule is broken once by hand, and found."""

import shutil

import pytest

from study_app.store.backups.backup import back_up
from study_app.store.check import check_database
from study_app.store.database import open_database
from study_app.store.rules import RULES
from tests.study_app.conftest import Campaign
from tests.study_app.small_tasks import ANSWERS, pass_check, questions_task, rate_all, rating_task
from tests.study_app.store import test_database_check
from tests.study_app.store.test_database_check import NEW_STUDY, NEW_TASK, by_hand

BREAKS = {
    "worker 1: have tries at a check": ["UPDATE introduction SET number = 3"],
    "worker 1: were stopped for a check": [
        "UPDATE worker SET completed_at = NULL, stopped_at = completed_at, stopped_as = 'failed_checks'"
    ],
    "introduction 1: of a worker of one study": [NEW_STUDY, "UPDATE worker SET study_id = 99"],
    "sheet 1: asks about another intent": [
        "UPDATE sheet SET intent_id = (SELECT id FROM intent WHERE id <> sheet.intent_id LIMIT 1) WHERE id = 1"
    ],
    "sheet 1: has ratings whose revisions": ["UPDATE rating SET revision = 2 WHERE sheet_id = 1"],
    "rating 1, 2: came after": ["UPDATE worker SET completed_at = 1"],
    "slot 2: done although a page of iUnits": ["DELETE FROM rating WHERE sheet_id = 1"],
    "slot 1: has answers whose revisions": ["UPDATE reply SET revision = 2"],
    "reply 1: came after": ["UPDATE worker SET completed_at = 1"],
    "reply 1: of a task that asks no questions": [
        NEW_TASK,
        "UPDATE task SET kind = 'summary_pairs' WHERE id = 99",
        "UPDATE assignment SET task_id = 99 WHERE id = 1",
    ],
    "code_shown 1: was shown though": ["UPDATE code_shown SET code = 'OTHER'"],
    "worker 1: were shown the code of their end": [
        "INSERT INTO code_shown (worker_id, kind, code, shown_at) SELECT worker_id, kind, code, 1 FROM code_shown"
    ],
    "code_shown 1: is for an arrival of another": [
        (
            "INSERT INTO worker (id, study_id, number, pseudonym, withdrawal_code, arrived_at, last_seen_at) "
            "VALUES (99, 1, 99, 'bob', 'bob', 1, 1)"
        ),
        "UPDATE code_shown SET entry_id = 1",
        "UPDATE platform_identity SET worker_id = 99",
    ],
    "platform_record 1: says that work was paid": [
        "INSERT INTO platform_record (identity_id, submission, status, confirmed, paid, read_at) VALUES (1, 's', 'x', 0, 1, 1)"
    ],
}


@pytest.fixture(scope="module")
def finished_copy(tmp_path_factory):
    """A database in which somebody did all of it, made once; what the server stored is whole."""
    folder = tmp_path_factory.mktemp("finished")
    made = Campaign(folder, f"sqlite:///{folder / 'test.sqlite3'}")
    made.load(tasks=[questions_task(), rating_task(instructions="standard", intents_per_worker=1)])
    made.serve()
    rate_all(pass_check(made.arrive().send().send(**ANSWERS), 3, 1)).send()
    assert check_database(made.database) == []
    back_up(made.database, folder / "copy")
    made.database.engine.dispose()
    return folder / "copy"


def test_every_rule_is_broken_once():
    """A new rule comes with its example, here or in `test_database_check`."""
    assert len(BREAKS) + len(test_database_check.BREAKS) == len(RULES)


@pytest.mark.parametrize("found", BREAKS)
def test_a_row_that_breaks_a_rule_is_named(finished_copy, tmp_path, found):
    """By table and id."""
    address = f"sqlite:///{shutil.copy(finished_copy, tmp_path / 'finished.sqlite3')}"
    by_hand(address, *BREAKS[found])
    database = open_database(address)
    assert [str(fault) for fault in check_database(database) if found in str(fault)]
    database.engine.dispose()
