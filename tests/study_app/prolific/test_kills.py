"""A campaign that is killed at each step, over a line that fails: nobody is paid twice and nobody is missing.

`benchmarks/prolific_kills.py` does the same with 1,000 submissions.
"""

import pytest

from study_app.prolific import sending
from tests.study_app.prolific.killed_campaign import KilledCampaign, go_through


@pytest.mark.soak
def test_a_campaign_killed_at_each_step_pays_everybody_once(new_prolific, monkeypatch):
    """An order is unknown exactly where a call was open; all others are carried out without a person."""
    monkeypatch.setattr(sending, "BATCH", 4)
    people = 12
    made = new_prolific(people)
    made.study.database.engine.dispose()
    killed = KilledCampaign(made.study.url, made.there)
    figures = go_through(killed)
    made.there.settle()
    assert len(set(made.there.approved)) == len(made.there.approved) == people
    assert set(made.there.times_paid.values()) == {1}
    assert len(made.there.times_paid) == people
    assert killed.states("approval") == killed.states("bonus") == {"confirmed": people}
    for where in ("POST /submissions/bulk-approve/", "POST pay", "POST /submissions/bonus-payments/"):
        assert {f"{where}: before", f"{where}: after"} <= figures.kills.keys()
    assert {"api: before a commit", "api: after a commit"} <= figures.kills.keys()
