"""Tasks that were full when a worker came to them, and what happens when they are no longer."""

import pytest
from sqlalchemy import select

from study_app.store.models import Judgment, Slot
from tests.study_app.conftest import Campaign
from tests.study_app.every_task import write_every_task
from tests.study_app.small_study import pairs_task, votes_task

FUJI, TEA = "mount fuji", "green tea"


def test_who_has_gone_on_is_not_called_back_to_a_task_that_has_room_again(campaign):
    """Else an answer would be refused because somebody else left; what was passed over stays so, also at the end."""
    study = campaign(lease_minutes=1, tasks=[votes_task(votes_per_query=1), pairs_task()])
    ann, bob = (study.arrive(name).send() for name in ("ann", "bob"))
    ann.send(topic=next(iter(ann.options("topic"))))
    bob.send(topic=next(iter(bob.options("topic"))))
    cleo = study.at_pairs("cleo")
    assert cleo.step == "2/1/pair/1"
    study.clock.forward(61)
    cleo.send(choice="left")
    assert (cleo.sent, cleo.step) == (303, "2/1/pair/2")
    study.judge_all(cleo)
    assert len(study.rows(select(Judgment))) == 3
    assert cleo.send().step == "done"


@pytest.mark.parametrize(
    ("kind", "changes", "page"),
    [
        ("stream_pairs", {"judgments_per_pair": 1, "pairs_per_worker": 6}, "pair"),
        ("iunit_importance", {"assessors_per_iunit": 1, "intents_per_worker": 4}, "rate"),
    ],
)
def test_who_waited_is_given_what_has_become_free(tmp_path, new_url, kind, changes, page):
    """There is nothing to choose where the server hands out pairs or intents, so it is there at once."""
    study = Campaign(tmp_path, new_url(tmp_path))
    study.load_file(write_every_task(tmp_path, tasks={"questions": {}, kind: changes}, lease_minutes=1))
    study.serve()
    waiting = study.arrive("ann", study="every").send()
    others = [study.arrive(f"w{number}", study="every").send() for number in range(6)]
    for other in others:
        other.send(**{"q-phone": "1"})
    waiting.send(**{"q-phone": "1"})
    assert waiting.step == "full"
    study.clock.forward(61)
    assert waiting.open(waiting.home).step == f"2/1/{page}/1"
    assert waiting.open(waiting.home).step == f"2/1/{page}/1"
    assert len(study.rows(select(Slot).where(Slot.unit > 0, Slot.expires_at > study.clock()))) == 1
    study.database.engine.dispose()
