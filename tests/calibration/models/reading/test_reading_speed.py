"""Reading speed as it is fitted: recovery with disturbances, intervals, refusals, what its result offers."""

import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from benchmarks.naive.reading import NAIVE, naive_medians
from calibration.inference.results import NotIdentifiedError
from calibration.models.reading import fit as reading_speed
from calibration.models.reading.fit import NAMES, fit_reading_speed
from calibration.models.reading.law import SimulatedReaders, simulate_reads
from calibration.models.reading.rows import readings

MU, SIGMA = 1.290, 0.558


def drawn(seed: int = 0, *, workers: int = 60, items: int = 12, **readers) -> pd.DataFrame:
    return simulate_reads(
        SimulatedReaders(mu=MU, sigma=SIGMA, **readers),
        np.random.default_rng([seed, 9]),
        workers=workers,
        items=items,
    )


# --- what it finds


@pytest.mark.parametrize(
    "readers",
    [{}, {"idle": 0.15, "skimmed": 0.1, "mean_visit_seconds": 60.0}],
    ids=["clean", "idle, skimmed and interrupted"],
)
def test_intervals_hold_the_truth_as_often_as_they_say(readers, seeds):
    """Many studies of 30 workers; at least 88 % of the 95 % intervals must hold, and no bias that matters."""
    everybody = drawn(workers=3000, items=10, **readers)
    fits = [fit_reading_speed(readings(everybody[300 * study : 300 * (study + 1)])) for study in seeds(100)]
    for name, truth in zip(NAMES, (MU, SIGMA), strict=True):
        held = np.mean([low <= truth <= high for low, high in (fit.conf_int()[name] for fit in fits)])
        assert held >= 0.88, name
    errors = np.array([fit.estimates for fit in fits]) - (MU, SIGMA)
    assert (
        np.abs(np.median(errors, axis=0))
        < 0.25 * errors.std(axis=0) + 2.5 * errors.std(axis=0) / math.sqrt(len(fits))
    ).all()


def test_a_third_of_idle_reads_breaks_medians_but_not_the_mixture():
    """The reason for a law of idle reads."""
    reads = drawn(3, workers=200, items=20, idle=0.3, skimmed=0.1)
    mixture, medians = fit_reading_speed(readings(reads)), naive_medians(reads)
    assert abs(mixture.estimates[0] - MU) < 0.1
    assert medians["reading_speed_mu"] < mixture.estimates[0] - 0.1
    assert mixture.details["share_idle"] == pytest.approx(0.3, abs=0.05)
    assert mixture.details["share_skimmed"] == pytest.approx(0.1, abs=0.03)


def test_on_clean_reads_medians_say_the_same():
    """Without outliers there is nothing between them but the efficiency of a median."""
    reads = drawn(4, workers=100, items=20)
    np.testing.assert_allclose(
        [*naive_medians(reads).values()], fit_reading_speed(readings(reads)).estimates, atol=0.05
    )


def test_a_unit_twice_as_long_moves_mu_by_its_log_and_nothing_else():
    """Characters for words, or half seconds for seconds."""
    reads = drawn(5, idle=0.1)
    one = fit_reading_speed(readings(reads))
    other = fit_reading_speed(readings(reads.assign(dwell_seconds=reads["dwell_seconds"] / 2)))
    np.testing.assert_allclose(other.estimates, one.estimates + np.array([math.log(2), 0]), atol=1e-4)
    np.testing.assert_allclose(other.cov, one.cov, rtol=1e-2, atol=1e-6)


def test_order_and_names_of_the_rows_change_nothing():
    """Only who read what when."""
    reads = drawn(6)
    shuffled = reads.sample(frac=1, random_state=1).assign(
        worker=lambda rows: rows["worker"].str.replace("W", "person ")
    )
    np.testing.assert_allclose(
        fit_reading_speed(readings(shuffled)).estimates,
        fit_reading_speed(readings(reads)).estimates,
        atol=1e-5,
    )


def test_workers_with_nothing_but_interrupted_reads_stay_in():
    """They are the slow ones; without them everybody looks faster."""
    reads = drawn(7, workers=200, items=4, mean_visit_seconds=4.0)
    fit = fit_reading_speed(readings(reads))
    some = reads["worker"].isin(reads.loc[~reads["interrupted"], "worker"])
    assert (~some).any()
    assert fit.n_workers == reads["worker"].nunique()
    assert fit.n_censored == reads["interrupted"].sum()
    assert fit.estimates[0] < fit_reading_speed(readings(reads[some])).estimates[0]


def test_japanese_is_in_characters_and_says_so():
    """The numbers of two languages cannot be compared."""
    reads = drawn(8).assign(chars=lambda rows: 5 * rows["words"], words=1)
    fit = fit_reading_speed(readings(reads, language="ja"))
    assert fit.unit == "log characters per second"
    assert fit.unit_of("reading_speed_mu[ja]") == "log characters per second"
    assert fit.estimates[0] == pytest.approx(MU + math.log(5), abs=0.25)


def test_the_joint_error_is_kept_on_mu_and_log_sigma():
    """sigma's interval is lopsided and never negative; draws keep both together."""
    fit = fit_reading_speed(readings(drawn(9)))
    low, high = fit.conf_int()["reading_speed_sigma"]
    sigma = fit.estimates[1]
    assert low * high == pytest.approx(sigma**2)
    drawn_sigma = fit.draw_parameters(2000, np.random.default_rng(0))["reading_speed_sigma"]
    assert np.log(drawn_sigma).std() == pytest.approx(math.sqrt(fit.cov[1, 1]), rel=0.1)


# --- what it refuses


def slow(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Say which of each worker's reads are not among the four fastest."""
    return (rows["dwell_seconds"] / rows["words"]).groupby(rows["worker"]).rank() > 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows.assign(words=0), "no read of an iUnit, update or entry .*720 without a length"),
        (lambda rows: rows[rows["worker"].isin(["W1", "W2"])], "2 workers read something to its end"),
        (lambda rows: rows.drop_duplicates("worker"), "fewer than 3 workers read two items"),
        (lambda rows: rows.assign(interrupted=True), "0 workers read something to its end"),
        (
            lambda rows: rows.assign(interrupted=slow(rows)),
            "more than half of what nearly every worker",
        ),
        (lambda rows: rows.assign(worker=rows["item"], item=rows["worker"]), "no more than chance"),
    ],
    ids=["no words", "two workers", "one item each", "all interrupted", "most interrupted", "no spread"],
)
def test_what_cannot_be_told_is_refused_with_the_reason(change, reason):
    """One item a worker gives sigma^2 + tau^2 together; workers alike give no sigma. Neither is returned."""
    with pytest.raises(NotIdentifiedError, match=reason):
        fit_reading_speed(readings(change(drawn(11))))


def test_where_the_likelihood_has_no_maximum_inside_no_other_number_stands_in(monkeypatch):
    """Medians are another law: the fit is refused by name."""
    monkeypatch.setattr(reading_speed, "fit_mixture", lambda top: None)
    with pytest.raises(NotIdentifiedError, match="has no maximum inside its bounds"):
        fit_reading_speed(readings(drawn(14)))


def test_a_speed_of_ranked_lists_is_that_of_texts_with_the_same_times():
    """That people scan lists is for the reader of the number to know, by a check."""
    texts = drawn(11)

    assert (
        fit_reading_speed(readings(texts.assign(kind="link"))).parameters
        == fit_reading_speed(readings(texts)).parameters
    )


# --- what its result offers


def test_the_result_simulates_reads_of_its_own_kind():
    """Fitted again they give the same parameters, up to their error."""
    fit = fit_reading_speed(readings(drawn(16, idle=0.1)))
    again = fit_reading_speed(readings(fit.simulate(200, np.random.default_rng(2))))
    np.testing.assert_allclose(again.estimates, fit.estimates, atol=0.2)
    assert again.details["share_idle"] == pytest.approx(fit.details["share_idle"], abs=0.05)


def test_plots_label_their_axes_with_units():
    """Drawn on given axes; the envelope holds most of the workers of a study from the model."""
    mpl.use("Agg")
    from matplotlib.figure import Figure

    fit = fit_reading_speed(readings(drawn(17, idle=0.1)))
    qq, residuals = Figure().subplots(1, 2)
    fit.plot_qq(qq, n_boot=39)
    fit.plot_residuals(residuals)
    assert "log words per second" in qq.get_ylabel()
    assert "log words per second" in residuals.get_xlabel()
    band = qq.collections[0].get_paths()[0].vertices
    assert np.isfinite(band).all()
    assert residuals.get_legend() is not None


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_speed_is_told_in_a_minute_too(language):
    """A log of words per second says nothing to most readers; exp(mu) and sixty times it do."""
    reads = drawn(17).assign(chars=lambda rows: 2 * rows["words"])
    fit = fit_reading_speed(readings(reads, language=language))
    (note,) = [note for note in fit.diagnostics if note.name == "reading_rate"]
    per_second = np.exp(fit.estimates[0])

    unit = {"en": "words", "ja": "characters"}[language]
    assert f"{per_second:.2g} {unit} a second, {60 * per_second:.0f} a minute" in note.sentence


# --- what not to do


@pytest.mark.parametrize("name", NAIVE)
def test_naive_ways_know_nothing_of_nobody(name):
    """Fewer than two workers give nan, never an error or a warning of numpy."""
    for reads in (drawn()[:0], drawn()[:4]):
        assert np.isnan([*NAIVE[name](reads).values()]).any()


def median_errors(**readers) -> dict[str, tuple[float, float]]:
    """Return (error of mu, relative error of sigma) of each naive way, the median over 5 studies."""
    studies = [drawn(seed, workers=100, items=20, **readers) for seed in range(5)]
    found = {}
    for name, estimate in NAIVE.items():
        values = np.median([list(estimate(reads).values()) for reads in studies], axis=0)
        found[name] = (values[0] - MU, values[1] / SIGMA - 1)
    return found


def test_naive_ways_have_the_bias_that_they_are_known_for(seeds):
    """15 % idle and 10 % skimmed reads: documented are 1.21/1.07 pooled, .76/.68 by totals, 1.25/.43 by a window."""
    errors = median_errors(idle=0.15, skimmed=0.1)
    assert errors["pooled"][1] > 0.7
    assert errors["totals"][0] < -0.35
    assert errors["speed_window"][1] < -0.15
    fits = [
        fit_reading_speed(readings(drawn(seed, workers=100, items=20, idle=0.15, skimmed=0.1)))
        for seed in seeds(40)
    ]
    mu, sigma = np.median([fit.estimates for fit in fits], axis=0)
    assert abs(mu - MU) < 0.05
    assert abs(sigma / SIGMA - 1) < 0.08


def test_interruptions_taken_for_ends_or_dropped_make_everybody_faster():
    """Visits of 20 s: as complete they bias most, dropped they lose the slowest readers."""
    errors = median_errors(mean_visit_seconds=20.0)
    assert errors["cut_is_complete"][0] > 0.15
    assert 0.02 < errors["cut_is_dropped"][0] < errors["cut_is_complete"][0]
    assert errors["cut_is_complete"][1] < -0.1


# --- reads that do not scatter


def computed(log_speed) -> pd.DataFrame:
    """Return reads of 12 workers, 8 items each, at speeds of worker and item."""
    reads = drawn(workers=12, items=8)
    worker = reads["worker"].astype("category").cat.codes.to_numpy()
    item = reads.groupby("worker").cumcount().to_numpy()
    speed = np.exp(np.array([log_speed(w, i) for w, i in zip(worker, item, strict=True)]))
    return reads.assign(dwell_seconds=reads["words"] / speed)


@pytest.mark.parametrize("rounding", [0.0, 0.004])
def test_reads_of_one_speed_are_refused_by_name(rounding):
    """No person reads so evenly: the times were computed, or are of a test."""
    rng = np.random.default_rng(4)
    reads = computed(lambda _w, _i: np.log(4) + rng.uniform(-rounding, rounding))

    with pytest.raises(NotIdentifiedError, match=r"^all 96 reads have one speed, 4 words a second: "):
        fit_reading_speed(readings(reads))


def test_workers_with_a_speed_each_that_never_varies_are_fitted():
    """How far one worker's reads scatter is then 0, which is no reason to stop."""
    fit = fit_reading_speed(readings(computed(lambda w, _i: np.log(2 + 2 * (w % 2)))))

    assert fit.parameters["reading_speed_mu"] == pytest.approx(np.log(8) / 2, abs=1e-3)


def test_one_read_that_differs_tells_no_spread_of_workers():
    """The likelihood runs to the end of its numbers there: it is stopped, and the fit refused."""
    reads = computed(lambda w, i: np.log(4) if (w, i) != (3, 3) else np.log(0.5))

    with pytest.raises(NotIdentifiedError, match="differ by no more than chance"):
        fit_reading_speed(readings(reads))
