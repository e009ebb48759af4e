"""The console's page of the material: counts for everybody, who is preferred for who opens it."""

import pytest
from sqlalchemy import select

from study_app.store.console_models import ResultsView
from tests.study_app.small_study import SYSTEMS, pairs_task
from tests.study_app.web.console.console_client import acts, text_of, token, watcher


@pytest.fixture
def study(campaign):
    one = campaign(tasks=[pairs_task()])
    one.judge_all(one.at_pairs("ann"))
    return one


def test_who_is_preferred_is_hidden_until_a_key_to_manage_opens_it(study):
    """The page has counts by couple; each look at results is stored, and a key to watch has none."""
    looking, acting = watcher(study), study.console()
    page = text_of(looking.get("/r/small/material"))
    assert "judgments 3" in page
    assert "Nobody has looked at results" in page
    for client in (looking, acting):
        hidden = text_of(client.get("/r/small/material/results"))
        assert "You may look early, but it is reported" in hidden
        assert not any(system in hidden for system in SYSTEMS)
    assert "Show who is preferred" not in looking.get("/r/small/material/results").text
    refused = looking.post("/r/small/material/results", data={"csrf": token(looking)})
    assert (refused.status_code, study.rows(select(ResultsView))) == (403, [])
    shown = acting.post("/r/small/material/results", data={"csrf": token(acting)})
    assert "Share of its votes" in shown.text
    assert all(system in shown.text for system in SYSTEMS)
    assert acts(study)[-1] == ("look at who is preferred", "at 3 judgments")
    assert "looked at once: 2026-03-01 12:00 UTC at 3 judgments" in text_of(looking.get("/r/small/material"))


@pytest.mark.parametrize("asked", ["task=2", "task=99999", "task=0", "task=x"])
def test_a_task_that_is_not_there_is_an_unknown_address(study, asked):
    """What is no number of a task shows the first."""
    answer = watcher(study).get(f"/r/small/material?{asked}")
    assert answer.status_code == (404 if asked in {"task=2", "task=99999"} else 200)
