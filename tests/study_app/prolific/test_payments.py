"""Approvals and bonuses by Prolific's API: nobody is paid twice, and nobody is missing from the list, whatever happens to a call."""

import csv
import io

import pytest

from study_app.prolific import sending
from tests.study_app.prefcal_command import run_here
from tests.study_app.prolific.campaign_rows import person, submission
from tests.study_app.prolific.prolific_server import TOKEN, Fault
from tests.study_app.web.console.console_client import text_of, watcher

FIRST, SECOND, THIRD = (submission(number) for number in (1, 2, 3))
CUT, CUT_AFTER = Fault(), Fault(after=True)
BONUS = ("--each", "0.50", "--for", "all days")


def test_without_yes_nothing_is_sent(new_prolific):
    """Only what is read, and what would be done."""
    made = new_prolific()
    said = made.run("approve")
    assert said.code == 0, said.err
    assert "3 submissions to approve" in said.out
    assert "add --yes" in said.err
    said = made.run("bonus", *BONUS)
    assert "3 bonuses, 1.50 GBP in all" in said.out
    made.run("pay")
    made.run("pause")
    made.run("places", 20)
    assert made.there.written == []
    assert made.orders() == {}


def test_whoever_has_complete_data_is_approved_once_whatever_the_code(new_prolific):
    """And the next list confirms it; a second command sends nothing."""
    made = new_prolific()
    made.there.submit(SECOND, person(2), code="WRONG")
    made.there.submit("foreign", person(99))
    said = made.run("approve", "--yes")
    assert said.code == 0, said.err
    assert "approvals: 3 sent, 0 unknown, 0 refused" in said.out
    assert set(made.orders().values()) == {"sent"}
    made.run("approve", "--yes")
    assert set(made.orders().values()) == {"confirmed"}
    assert sorted(made.there.approved) == [FIRST, SECOND, THIRD]
    assert made.there.submissions["foreign"]["status"] == "AWAITING REVIEW"


def test_bonuses_are_paid_once_for_the_same_words(new_prolific):
    """However often the command is run; another purpose is another bonus, another amount for the same is a fault."""
    made = new_prolific()
    made.run("sync")
    assert "bonuses: 3 sent" in made.run("bonus", *BONUS, "--yes").out
    made.run("bonus", *BONUS, "--yes")
    made.run("sync")
    assert set(made.orders().values()) == {"confirmed"}
    assert made.there.times_paid == {(name, 50): 1 for name in (FIRST, SECOND, THIRD)}
    said = made.run("bonus", "--each", "0.60", "--for", "all days", "--yes")
    assert said.code == 1
    assert "worker w00001 has a bonus of 0.50 GBP for 'all days' already" in said.err
    made.run("bonus", "--each", "0.50", "--for", "thanks", "--yes")
    assert made.there.times_paid == {(name, 50): 2 for name in (FIRST, SECOND, THIRD)}


@pytest.mark.parametrize("kind", ["approve", "bonus"])
@pytest.mark.parametrize(
    ("fault", "is_paid"),
    [(CUT, False), (CUT_AFTER, True), (Fault(500), False), (Fault(504, after=True), True)],
    ids=["cut before", "cut after", "500 before", "504 after"],
)
def test_a_lost_answer_leaves_the_payment_unknown_and_it_is_never_made_again(
    kind, fault, is_paid, new_prolific
):
    """It is listed by name. What Prolific shows is confirmed by the next list; what it does not show waits for a person."""
    made = new_prolific()
    made.run("sync")
    made.there.fail("bulk-approve|/pay/", fault)
    options = ("--yes",) if kind == "approve" else (*BONUS, "--yes")
    said = made.run(kind, *options)
    assert said.code == 1
    assert "lost" in said.err
    assert set(made.orders().values()) == {"unknown"}
    written = [call for call in made.there.written if "bonus-payments/" not in call or "/pay/" in call]
    listed = made.run("pay").out
    assert all(f"w0000{number}" in listed for number in (1, 2, 3))
    assert "unknown" in listed
    made.run("pay", "--yes")
    made.run(kind, *options)
    assert [
        call for call in made.there.written if "bonus-payments/" not in call or "/pay/" in call
    ] == written
    made.run("sync")
    assert set(made.orders().values()) == {"confirmed" if is_paid else "unknown"}


def test_only_a_person_releases_a_payment_and_prolific_is_asked_before(new_prolific):
    """Released, it is sent with the next --yes; what Prolific shows by then is confirmed instead."""
    made = new_prolific()
    made.run("sync")
    made.there.fail("/pay/", CUT)
    made.run("bonus", *BONUS, "--yes")
    first, second, third = made.numbers("unknown")
    made.there.bonuses[THIRD].append(50)  # it came after all
    assert made.run("pay", "--release", first).code == 0
    assert made.numbers("unknown") == [first, second, third]
    said = made.run("pay", "--release", first, "--release", third, "--yes")
    assert f"Prolific shows orders {third}: confirmed, not released" in said.out
    assert (made.numbers("intended"), made.numbers("unknown"), made.numbers("confirmed")) == (
        [first],
        [second],
        [third],
    )
    made.run("pay", "--paid", second, "--yes")
    made.run("pay", "--yes")
    assert made.there.times_paid == {(FIRST, 50): 1, (THIRD, 50): 1}
    assert made.numbers("confirmed") == [second, third]
    said = made.run("pay", "--release", second, "--yes")
    assert (said.code, "is confirmed" in said.err) == (1, True)
    assert "no order 99 of this study" in made.run("pay", "--paid", 99, "--yes").err


def test_one_of_two_bonuses_waits_until_the_other_is_seen(new_prolific):
    """Else nobody could tell which of two equal ones a submission shows."""
    made = new_prolific(1)
    made.run("sync")
    made.there.fail("/pay/", CUT)
    made.run("bonus", *BONUS, "--yes")
    said = made.run("bonus", "--each", "0.50", "--for", "thanks", "--yes")
    assert "bonuses: 0 sent" in said.out
    assert made.there.times_paid == {}
    made.there.bonuses[FIRST].append(50)
    made.run("sync")
    made.run("pay", "--yes")
    assert made.there.times_paid == {(FIRST, 50): 2}


def test_a_bonus_of_before_is_not_taken_for_this_one(new_prolific):
    """Somebody paid the same amount by hand last week."""
    made = new_prolific(1)
    made.there.bonuses[FIRST].append(50)
    made.run("sync")
    made.there.fail("/pay/", CUT)
    made.run("bonus", *BONUS, "--yes")
    made.run("sync")
    assert made.orders() == {FIRST: "unknown"}


def test_payments_that_come_later_are_sent_until_they_are_seen(new_prolific):
    """Prolific says only that it has taken them."""
    made = new_prolific(2)
    made.there.is_slow = True
    made.run("sync")
    made.run("bonus", *BONUS, "--yes")
    made.run("sync")
    assert set(made.orders().values()) == {"sent"}
    made.there.settle()
    assert "2 orders confirmed" in made.run("sync").out
    assert set(made.orders().values()) == {"confirmed"}


def test_too_many_calls_wait_as_long_as_prolific_says_and_cost_nothing(new_prolific, monkeypatch):
    """429 says that nothing was done, so the call is made again."""
    waits = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waits.append)
    made = new_prolific()
    made.there.fail("bulk-approve", Fault(429, {"Retry-After": "7"}), Fault(429, {"Retry-After": "3"}))
    assert made.run("approve", "--yes").code == 0
    assert waits == [7, 3]
    assert sorted(made.there.approved) == [FIRST, SECOND, THIRD]
    made.there.fail("GET .*submissions", Fault(429, {"Retry-After": "7200"}))
    said = made.run("sync")
    assert (said.code, "run the same command again in 7,200 s" in said.err) == (1, True)


def test_a_submission_that_is_refused_does_not_keep_the_others_from_their_money(new_prolific, monkeypatch):
    """It is found by halves, named, and stays intended."""
    monkeypatch.setattr(sending, "BATCH", 2)
    made = new_prolific(5)
    made.there.every = lambda call, _: (
        made.there.submit(SECOND, person(2), status="RETURNED") if "bulk-approve" in call else None
    )
    said = made.run("approve", "--yes")
    assert "approvals: 4 sent, 0 unknown, 1 refused" in said.out
    assert f"Not awaiting review: {SECOND}" in said.err
    assert made.orders()[SECOND] == "intended"
    assert len(made.there.approved) == 4
    made.there.every = None
    made.run("approve", "--yes")
    assert SECOND not in made.orders()


def test_a_platform_that_was_down_is_gone_on_with(new_prolific):
    """Nothing was sent while it could not be reached; the same command then does the rest."""
    made = new_prolific()
    made.run("sync")
    made.there.every = lambda call, _: Fault(503) if "GET" in call else None
    said = made.run("approve", "--yes")
    assert (said.code, made.orders()) == (1, {})
    assert "Prolific does not answer GET /submissions/ (503)" in said.err
    made.there.every = None
    assert made.run("approve", "--yes").code == 0
    assert len(made.there.approved) == 3


def test_another_currency_and_a_strange_price_pay_nobody(new_prolific):
    """By name; the bonuses stay intended."""
    made = new_prolific(currency="USD")
    made.run("sync")
    said = made.run("bonus", *BONUS, "--yes")
    assert (said.code, "pays in USD, and these bonuses are in GBP" in said.err) == (1, True)
    assert made.there.batches == {}
    made.there.currency = "GBP"
    price = b'{"id": "b1", "study": "5f00", "amount": 15000, "total_amount": 21000}'
    made.there.fail("submissions/bonus-payments", Fault(201, after=True, body=price))
    said = made.run("pay", "--yes")
    assert "would take 210.00 GBP for bonuses of 1.50 GBP" in said.err
    assert made.there.times_paid == {}
    assert set(made.orders().values()) == {"intended"}


def test_a_token_is_needed_has_rights_and_is_shown_nowhere(new_prolific, monkeypatch, caplog):
    """Neither in what is printed nor in the database, whatever the server says."""
    made = new_prolific()
    made.there.fail("GET", Fault(403, body=f'{{"error": {{"detail": "no rights, {TOKEN}"}}}}'.encode()))
    said = made.run("sync")
    assert said.code == 1
    assert "may not do this" in said.err
    made.run("approve", "--yes")
    stored = [value for rows in made.study.everything().values() for value in rows]
    assert TOKEN not in said.out + said.err + caplog.text + "".join(stored)
    monkeypatch.setenv("PREFCAL_PROLIFIC_TOKEN", "other")
    said = made.run("sync")
    assert (said.code, "401" in said.err) == (1, True)
    monkeypatch.delenv("PREFCAL_PROLIFIC_TOKEN")
    assert "there is no token of Prolific in PREFCAL_PROLIFIC_TOKEN" in made.run("sync").err
    monkeypatch.setenv("PREFCAL_PROLIFIC_TOKEN", "two\nlines")
    assert "a character that no key has" in made.run("sync").err
    monkeypatch.setenv("PREFCAL_PROLIFIC_TOKEN", TOKEN)
    monkeypatch.setenv("PREFCAL_PROLIFIC_API", "http://example.org")
    assert "no address with https" in made.run("sync").err


def test_every_call_is_recorded_before_it_is_made_and_no_path_has_a_persons_id(new_prolific):
    """As many as the server saw, with their answers."""
    made = new_prolific()
    made.run("approve", "--yes")
    made.there.fail("/pay/", CUT)
    made.run("bonus", *BONUS, "--yes")
    calls = made.calls()
    assert len(calls) == len(made.there.calls)
    assert [row.status for row in calls if row.path.endswith("/pay/")] == [None]
    assert all(row.ended_at is not None for row in calls)
    assert not any(submission(number) in row.path for row in calls for number in (1, 2, 3))


def test_other_platforms_are_refused(campaign, run):
    """By name."""
    made = campaign()
    ended = run("prolific", "pay", "small", "--database", made.url)
    assert (ended.code, "come from platform generic" in ended.err) == (1, True)


def test_ids_are_not_deleted_while_a_payment_is_open_and_payments_stay_without_them(new_prolific, run):
    """What was paid can be counted for ever; whom it was for, nobody can say any more."""
    made = new_prolific(1)
    made.there.fail("/pay/", CUT_AFTER)
    made.run("approve", "--yes")
    made.run("sync")
    made.run("bonus", *BONUS, "--yes")
    delete = ("retention", "small", "--all-identities", "--delete", "--database", made.study.url)
    said = run(*delete)
    assert (said.code, "1 of these workers is not known to be paid" in said.err) == (1, True)
    made.run("sync")
    assert run(*delete).code == 0
    stored = "".join(value for rows in made.study.everything().values() for value in rows)
    assert FIRST not in stored
    assert person(1) not in stored
    assert len(made.numbers("confirmed")) == 2
    assert "2  confirmed" in made.run("pay").out


def test_the_console_shows_every_state_and_names_what_is_unknown(new_prolific):
    """By pseudonym, to a key that only watches too; nothing of the API where nothing was called."""
    made = new_prolific()
    assert "By the platform’s API" not in text_of(made.study.console().get("/r/small/payments"))
    made.run("approve", "--yes")
    made.there.fail("/pay/", CUT)
    made.run("bonus", *BONUS, "--yes")
    page = made.study.console().get("/r/small/payments")
    shown = text_of(page)
    assert "3 orders wait for you" in shown
    assert all(f"w0000{number} bonus 0.50 GBP unknown" in shown for number in (1, 2, 3))
    assert "approval 0 0 3 0" in shown
    assert "bonus 0 3 0 0" in shown
    assert "1 without an answer" in shown
    assert person(1) not in page.text
    assert submission(1) not in page.text
    assert text_of(watcher(made.study).get("/r/small/payments")).count("unknown") >= 3


def counts(made):
    page = text_of(made.study.console().get("/r/small/payments"))
    return [int(page.split(f"{word}: ")[1].split()[0]) for word in ("Approve", "Pay", "Ask about")]


def test_the_consoles_lists_leave_out_whom_the_api_pays_and_the_audit_counts_people(new_prolific):
    """An approval and a bonus that left are due no more, whether the list shows them or not; a bonus beside an approval is another matter."""
    made = new_prolific()
    made.there.submit(THIRD, person(3), status="RETURNED")
    made.run("sync")
    assert counts(made) == [2, 1, 0]
    made.run("bonus", *BONUS, "--yes")
    assert counts(made) == [2, 0, 0]
    assert "paid_by_api" in text_of(made.study.console().get("/r/small/payments"))
    made.there.fail("bulk-approve", CUT)
    made.run("approve", "--yes")
    assert counts(made) == [0, 0, 0]
    assert {*made.orders("approval").values()} == {"unknown"}
    made.run("pay", "--paid", *made.numbers("unknown")[:1], "--yes")
    acts = csv.DictReader(io.StringIO(made.study.console().get("/r/small/audit.csv").text))
    people = {act["what"]: act["people"] for act in acts}
    assert people["read submissions from Prolific"] == "3"
    assert people["send bonuses to Prolific"] == "3"
    assert people["send approvals to Prolific"] == "2"
    assert people["say that orders were carried out"] == "1"


@pytest.mark.parametrize(
    "command", ["draft", "publish", "pause", "places", "approve", "bonus", "message", "pay"]
)
def test_the_help_of_each_command_that_changes_something_says_what_it_costs(monkeypatch, capsys, command):
    """Money is another's decision: nobody should have to try."""
    assert "cost" in run_here(monkeypatch, capsys, "prolific", command, "--help").out
