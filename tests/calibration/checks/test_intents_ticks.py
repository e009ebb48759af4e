"""Voters who tick otherwise than the model says: how many, and what P(i|q) is without them; the fit stays that of all."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.coverage_people import VOTING
from calibration.checks.finding import Finding
from calibration.checks.intents.breadth import breadth
from calibration.checks.intents.random_ticks import largest_random_share, random_tickers
from calibration.checks.registry import run_checks
from calibration.inference.heterogeneity import POWERS, share_left_open
from calibration.models import intents
from calibration.models.intents import IntentBallots, IntentFit, fit_intents, rates_prior
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES

RATES = np.array([0.8, 0.5, 0.3, 0.1, 0.05])


def ballots(
    seed: int,
    *,
    people: int = 24,
    topics: int = 16,
    careless: int = 0,
    everything: int = 0,
    breadth: float = 0.0,
) -> pd.DataFrame:
    """Draw table intent_votes of people who vote on every topic; the first ``careless`` tick every other intent by lot."""
    rng = np.random.default_rng([seed, 4])
    lean = rng.normal(0, breadth, (people, 1, 1))
    chance = np.broadcast_to(
        1 / (1 + np.exp(-np.log(RATES / (1 - RATES)) - lean)), (people, topics, 5)
    ).copy()
    chance[:careless] = 0.5
    chance[people - everything :] = 0.98
    drawn = rng.random(chance.shape) < chance
    rows = [
        (f"W{person:02d}", f"Q{topic}", intent)
        for person in range(people)
        for topic in range(topics)
        for intent in ([f"i{i}" for i in np.flatnonzero(drawn[person, topic])] or [None])
    ]
    return check_frame(pd.DataFrame(rows, columns=["worker", "topic", "intent"]), TABLES["intent_votes"])


def checked_votes(votes: pd.DataFrame) -> tuple[IntentFit, dict[str, Finding]]:
    """Return the fit of votes, and its findings by name."""
    data = IntentBallots(votes=votes)
    fit = fit_intents(data, rng=np.random.default_rng(1))
    return fit, {finding.name: finding for finding in run_checks(fit, data)}


def warned(votes: pd.DataFrame) -> set[str]:
    """Return the names of warnings, but for that of `RATES`, which are of no Beta."""
    findings = checked_votes(votes)[1].items()
    return {name for name, finding in findings if finding.severity == "warning"} - {"rates_from_one_beta"}


def test_who_ticks_by_lot_stays_in_the_number_and_is_told_beside_it():
    """Six of 24: with them what most people want comes out less likely."""
    votes = ballots(1, careless=6)
    fit, findings = checked_votes(votes)
    others, finding = (
        fit_intents(IntentBallots(votes=votes[votes["worker"] >= "W06"]), rng=np.random.default_rng(1)),
        findings["random_ticks"],
    )

    assert finding.severity == "warning"
    assert finding.sentence.startswith(
        "6 of 24 voters tick other intents than the rest, as if by lot (p < 0.001)."
    )
    assert "instead of" in finding.sentence
    assert fit.result.n_workers == 24
    assert {name: law.estimate for name, (law,) in finding.sensitivity.items()} == others.result.parameters


@pytest.mark.parametrize("breadth_sd", [0.0, 1.0, 2.0])
def test_who_ticks_many_or_few_is_named_for_nothing_else(breadth_sd, seeds):
    """How many somebody ticks is a taste."""
    found = [warned(ballots(seed, breadth=breadth_sd, people=40)) for seed in seeds(10, least=4)]

    assert sum(names <= {"ticking_breadth"} for names in found) >= len(found) - 1
    assert sum("ticking_breadth" in names for names in found) == (len(found) if breadth_sd else 0)


def test_the_breadth_of_ticking_is_found_again():
    """Its deviation on the logit scale, with and without people who tick everything."""
    plain, mixed = (
        breadth(IntentBallots(votes=ballots(3, people=60, breadth=1.0, everything=number)))
        for number in (0, 12)
    )

    assert plain.spread == pytest.approx(1.0, abs=0.25)
    assert plain.ratio > 50
    assert mixed.everything.kind.count == pytest.approx(12, abs=1)


@pytest.mark.parametrize("topics", [8, 16])
def test_voters_who_tick_every_intent_are_named_and_count(topics):
    """Five of 24; the sentence has the probability that moves most without them."""
    votes = ballots(1, everything=5, topics=topics)
    fit, findings = checked_votes(votes)
    finding = findings["ticks_everything"]

    assert finding.severity == "warning"
    assert fit.result.n_workers == 24
    assert finding.sentence.startswith(("4 of 24 voters", "5 of 24 voters"))
    assert "ticks_everything" not in warned(ballots(1, topics=topics))


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("30 % tick everything, 60 people, 2 of 6 topics", "ticks_everything"),
        ("rare intents, 25 % careless, 50 people, 3 of 6 topics", "random_ticks"),
    ],
)
def test_who_ticks_all_alike_is_told_from_breadth_though_a_third_of_the_ballots_are_such(label, name, seeds):
    """Rates to which they do not count tell them; breadth is not said in their place."""
    (regime,) = (each for each in VOTING if each.label == label)
    found = []
    for seed in seeds(8, least=4):
        votes, offered, _ = regime.study(np.random.default_rng([seed, 1]))
        data = IntentBallots(votes=votes, offered=offered)
        findings = run_checks(fit_intents(data, rng=np.random.default_rng(1)), data)
        found.append({finding.name for finding in findings if finding.severity == "warning"})

    assert sum(name in names for names in found) >= len(found) - 1
    assert sum("ticking_breadth" in names for names in found) <= 1


def test_votes_as_the_model_says_have_no_warning(seeds):
    """In nine studies of ten."""
    assert sum(bool(warned(ballots(seed))) for seed in seeds(10, least=5)) <= 1


def test_what_the_votes_leave_open_of_ticks_by_lot_stands_beside_the_fit():
    """On sixteen topics each a handful of such voters shows; of a single ballot nobody can say who filled it in."""
    several = ballots(2)
    single = several[several["worker"].str[1:].astype(int) % 16 == several["topic"].str[1:].astype(int)]

    assert largest_random_share(IntentBallots(votes=several)) < 0.15
    assert largest_random_share(IntentBallots(votes=single)) > 0.4
    fit, findings = checked_votes(single)
    laws = {name: law for name, (law,) in findings["random_ticks"].sensitivity.items()}
    assert findings["random_ticks"].severity == "info"
    assert {*laws} == {*fit.result.parameters}
    assert any(
        law.low < low for law, (low, _) in zip(laws.values(), fit.result.conf_int().values(), strict=True)
    )


def test_random_tickers_are_known():
    """Each of them, and nobody else."""
    data = IntentBallots(votes=ballots(1, careless=6))
    p_value, kind = random_tickers(data)

    assert p_value < 1e-6
    assert {*data.voters[kind.is_careless]} == {f"W{u:02d}" for u in range(6)}


def kinds(*, two_kinds: bool) -> pd.DataFrame:
    """Return the votes of 30 voters on 15 topics of 5 intents; of two kinds: ticked by nearly all or by half."""
    rng = np.random.default_rng(1)
    rates = rng.choice([0.5, 0.97], 75) if two_kinds else rng.beta(2.0, 3.0, 75)
    rows = [
        (f"W{voter}", f"T{place // 5}", f"I{place % 5}")
        for place, rate in enumerate(rates)
        for voter in np.flatnonzero(rng.random(30) < rate)
    ]
    return check_frame(pd.DataFrame(rows, columns=["worker", "topic", "intent"]), TABLES["intent_votes"])


def test_rates_from_one_beta_are_accepted_and_two_kinds_are_not():
    """The test refits each simulated collection, so its size is right though a and b were fitted."""
    fine, bad = (checked_votes(kinds(two_kinds=two))[1]["rates_from_one_beta"] for two in (False, True))

    assert fine.p_value > 0.05
    assert bad.p_value == 1 / 300
    assert bad.severity == "warning"


def test_a_collection_of_few_intents_has_nothing_to_test():
    """a = b = 1 was taken, not fitted."""
    few = kinds(two_kinds=False)
    fit, findings = checked_votes(few[few["topic"] == "T1"])

    assert "rates_from_one_beta" not in findings
    assert [note.name for note in fit.result.diagnostics] == ["flat_prior"]


def test_who_ticks_by_lot_counts_with_all_the_ticks_that_this_takes():
    """Five of twenty people, of whom the answers say that they are drawn by lot, tick six intents each, the others one."""
    logliks = np.tile(np.append(-3.0, np.zeros(len(POWERS) - 1)), (20, 1))
    logliks[:5, 0] = 2.0

    alike = share_left_open(logliks, np.ones(20), 1.92)
    many = share_left_open(logliks, np.append(np.full(5, 6.0), np.ones(15)), 1.92)

    assert 0.25 < alike < 0.5
    assert many > 0.6


def test_where_nobody_ticks_every_intent_is_as_likely():
    """With intervals that hold the estimate."""
    votes = ballots(3, people=6, topics=3).assign(intent=None).drop_duplicates()
    offered = pd.DataFrame(
        {"topic": [f"Q{t}" for t in range(3) for _ in range(4)], "intent": list("abcd") * 3}
    )
    entries = fit_intents(
        IntentBallots(votes=votes, offered=check_frame(offered, TABLES["intents"])),
        rng=np.random.default_rng(1),
    ).entries()

    assert [entry.estimate for entry in entries["Q0"].values()] == pytest.approx([0.25] * 4)
    assert all(0 <= e.interval[0] <= 0.25 <= e.interval[1] <= 1 for e in entries["Q0"].values())


def test_the_prior_of_votes_is_found_once_for_a_fit_and_its_checks(monkeypatch):
    """Thirty-one checks of breadth would otherwise find it anew."""
    votes = ballots(1)
    calls = []
    monkeypatch.setattr(intents, "rates_prior", lambda *args: calls.append(1) or rates_prior(*args))
    data = IntentBallots(votes=votes)

    fit_intents(data, rng=np.random.default_rng(1))
    breadth(data)
    random_tickers(data)

    assert len(calls) == 1
