"""Reading speed as it is fitted: recovery with disturbances, intervals, refusals, what its result offers."""

import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from calibration.inference.results import NotIdentifiedError
from calibration.reading import fit as reading_speed
from calibration.reading import result as reading_result
from calibration.reading.fit import NAMES, fit_reading_speed
from calibration.reading.law import Readers, simulate_reads
from calibration.reading.medians import NAIVE
from calibration.reading.result import ReadingSpeedFit

MU, SIGMA = 1.290, 0.558


def drawn(seed: int = 0, *, workers: int = 60, items: int = 12, **readers) -> pd.DataFrame:
    return simulate_reads(
        Readers(mu=MU, sigma=SIGMA, **readers), np.random.default_rng([seed, 9]), workers=workers, items=items
    )


def names(fit: ReadingSpeedFit) -> list[str]:
    return [note.name for note in fit.diagnostics]


# --- what it finds


@pytest.mark.parametrize(
    "readers",
    [{}, {"idle": 0.15, "skimmed": 0.1, "mean_visit_seconds": 60.0}],
    ids=["clean", "idle, skimmed and interrupted"],
)
def test_intervals_hold_the_truth_as_often_as_they_say(readers, seeds):
    """Many studies of 30 workers; at least 88 % of the 95 % intervals must hold, and no bias that matters."""
    everybody = drawn(workers=3000, items=10, **readers)
    fits = [fit_reading_speed(everybody[300 * study : 300 * (study + 1)]) for study in seeds(100)]
    for name, truth in zip(NAMES, (MU, SIGMA), strict=True):
        held = np.mean([low <= truth <= high for low, high in (fit.conf_int()[name] for fit in fits)])
        assert held >= 0.88, name
    errors = np.array([fit.estimates for fit in fits]) - (MU, SIGMA)
    assert (
        np.abs(np.median(errors, axis=0))
        < 0.25 * errors.std(axis=0) + 2.5 * errors.std(axis=0) / math.sqrt(len(fits))
    ).all()


def test_a_third_of_idle_reads_breaks_medians_but_not_the_mixture():
    """The reason for the default; the fit by medians warns of it."""
    reads = drawn(3, workers=200, items=20, idle=0.3, skimmed=0.1)
    mixture, median = fit_reading_speed(reads), fit_reading_speed(reads, method="median")
    assert abs(mixture.estimates[0] - MU) < 0.1
    assert median.estimates[0] < mixture.estimates[0] - 0.1
    assert "outlying_reads" in [n.name for n in median.diagnostics if n.severity == "warning"]
    assert mixture.details["share_idle"] == pytest.approx(0.3, abs=0.05)
    assert mixture.details["share_skimmed"] == pytest.approx(0.1, abs=0.03)


def test_both_methods_agree_on_clean_reads():
    """Without outliers there is nothing between them but the efficiency of a median."""
    reads = drawn(4, workers=100, items=20)
    mixture, median = fit_reading_speed(reads), fit_reading_speed(reads, method="median")
    np.testing.assert_allclose(median.estimates, mixture.estimates, atol=0.05)


def test_a_unit_twice_as_long_moves_mu_by_its_log_and_nothing_else():
    """Characters for words, or half seconds for seconds."""
    reads = drawn(5, idle=0.1)
    one = fit_reading_speed(reads)
    other = fit_reading_speed(reads.assign(dwell_seconds=reads["dwell_seconds"] / 2))
    np.testing.assert_allclose(other.estimates, one.estimates + np.array([math.log(2), 0]), atol=1e-4)
    np.testing.assert_allclose(other.cov, one.cov, rtol=1e-2, atol=1e-6)


def test_order_and_names_of_the_rows_change_nothing():
    """Only who read what when."""
    reads = drawn(6)
    shuffled = reads.sample(frac=1, random_state=1).assign(
        worker=lambda rows: rows["worker"].str.replace("W", "person ")
    )
    np.testing.assert_allclose(
        fit_reading_speed(shuffled).estimates, fit_reading_speed(reads).estimates, atol=1e-5
    )


def test_workers_with_nothing_but_interrupted_reads_stay_in():
    """They are the slow ones; without them everybody looks faster."""
    reads = drawn(7, workers=200, items=4, mean_visit_seconds=4.0)
    fit = fit_reading_speed(reads)
    some = reads["worker"].isin(reads.loc[~reads["interrupted"], "worker"])
    assert (~some).any()
    assert fit.n_workers == reads["worker"].nunique()
    assert fit.n_censored == reads["interrupted"].sum()
    assert fit.estimates[0] < fit_reading_speed(reads[some]).estimates[0]


def test_japanese_is_in_characters_and_says_so():
    """The numbers of two languages cannot be compared."""
    reads = drawn(8).assign(chars=lambda rows: 5 * rows["words"], words=1)
    fit = fit_reading_speed(reads, language="ja")
    assert fit.unit == "log characters per second"
    assert fit.unit_of("reading_speed_mu[ja]") == "log characters per second"
    assert fit.estimates[0] == pytest.approx(MU + math.log(5), abs=0.25)


def test_the_joint_error_is_kept_on_mu_and_log_sigma():
    """sigma's interval is lopsided and never negative; draws keep both together."""
    fit = fit_reading_speed(drawn(9))
    low, high = fit.conf_int()["reading_speed_sigma"]
    sigma = fit.estimates[1]
    assert low * high == pytest.approx(sigma**2)
    drawn_sigma = fit.draw_parameters(2000, np.random.default_rng(0))["reading_speed_sigma"]
    assert np.log(drawn_sigma).std() == pytest.approx(math.sqrt(fit.cov[1, 1]), rel=0.1)


def test_a_bootstrap_of_workers_says_much_the_same():
    """Another method, asked for; it needs a generator."""
    reads = drawn(10, items=6)
    for method in ("median", "mixture"):
        fit = fit_reading_speed(reads, method=method, resamples=60, rng=np.random.default_rng(1))
        ratio = np.diff(fit.conf_int(method="worker_bootstrap")["reading_speed_mu"]) / np.diff(
            fit.conf_int()["reading_speed_mu"]
        )
        assert 0.7 < ratio < 1.4
    with pytest.raises(ValueError, match="needs rng"):
        fit_reading_speed(reads, resamples=10)


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
        fit_reading_speed(change(drawn(11)))


# --- what it warns of


def test_a_speed_of_ranked_lists_is_called_one_of_judging_them():
    """The fit is the same; that people scan lists is for the reader of the number to know."""
    texts = drawn(11)
    lists = fit_reading_speed(texts.assign(kind="link"))

    assert "from_lists" in [note.name for note in lists.diagnostics if note.severity == "warning"]
    assert lists.parameters == fit_reading_speed(texts).parameters
    assert "from_lists" not in names(fit_reading_speed(texts))


def test_items_of_one_length_leave_a_time_per_item_unseen():
    """A fixed time an item and time by length cannot be told apart; with lengths in a range of three they can."""
    rng = np.random.default_rng(1)
    narrow = simulate_reads(Readers(overhead_seconds=2), rng, workers=40, words=(20, 24))
    assert "narrow_lengths" in names(fit_reading_speed(narrow))
    wide = simulate_reads(Readers(overhead_seconds=2), rng, workers=40, words=(8, 60))
    assert "time_per_item" in names(fit_reading_speed(wide))
    fair = simulate_reads(Readers(), rng, workers=40, words=(8, 60))
    assert not {"narrow_lengths", "time_per_item"} & {*names(fit_reading_speed(fair))}


def test_a_minimum_dwell_shows_as_a_heap_at_the_shortest_time():
    """A study that keeps people on the page for some seconds makes fast readers slow."""
    reads = drawn(12)
    held = reads.assign(dwell_seconds=reads["dwell_seconds"].clip(lower=3))
    assert "minimum_dwell" in names(fit_reading_speed(held))
    assert "minimum_dwell" not in names(fit_reading_speed(reads))


def test_few_workers_and_many_interruptions_are_warned_of():
    """Both make the spread over people a guess."""
    fit = fit_reading_speed(drawn(13, workers=15, items=40, mean_visit_seconds=4.0))
    assert {"few_workers", "many_interrupted"} <= {*names(fit)}
    assert not {"few_workers", "many_interrupted"} & {*names(fit_reading_speed(drawn(13)))}


def test_medians_stand_in_where_the_mixture_has_no_maximum(monkeypatch):
    """Better than nothing, and said."""
    monkeypatch.setattr(reading_speed, "fit_mixture", lambda top: None)
    fit = fit_reading_speed(drawn(14))
    assert fit.method == "worker medians, random effects"
    assert "mixture_failed" in names(fit)


def test_a_clean_study_has_no_warning():
    """A warning that always stands is read by nobody."""
    fit = fit_reading_speed(drawn(14, idle=0.05))
    assert [note.name for note in fit.diagnostics if note.severity == "warning"] == []


# --- what its result offers


def test_a_normal_crowd_passes_its_test_and_two_crowds_do_not():
    """Half of the workers reading four times as fast as the other half is no normal population."""
    reads = drawn(15, workers=150)
    (good,) = fit_reading_speed(reads).goodness_of_fit(n_boot=39)
    assert good.p_value > 0.05
    half = reads["worker"].isin([f"W{n}" for n in range(75)])
    two = reads.assign(dwell_seconds=reads["dwell_seconds"] * np.where(half, 8, 1))
    (bad,) = fit_reading_speed(two).goodness_of_fit(n_boot=39)
    assert bad.p_value == 1 / 40
    assert "do not look normal" in bad.sentence


def test_a_very_large_study_is_tested_with_errors_of_medians_that_are_used_again(monkeypatch):
    """Every simulated worker has a new speed, so the spread of studies is the same."""
    summary = fit_reading_speed(drawn(15, workers=150, items=40))
    every = np.array([*summary._simulated_medians(np.random.default_rng(1), 200)])
    monkeypatch.setattr(reading_result, "MOST_READS", 0)
    again = np.array([*summary._simulated_medians(np.random.default_rng(2), 200)])

    error = every.std(axis=1).std() / np.sqrt(200)
    assert again.std(axis=1).mean() == pytest.approx(every.std(axis=1).mean(), abs=4 * error)
    assert again.std(axis=1).std() == pytest.approx(every.std(axis=1).std(), rel=0.25)
    assert np.abs(np.corrcoef(again)[np.triu_indices(200, 1)]).max() < 0.5


def test_the_result_simulates_reads_of_its_own_kind():
    """Fitted again they give the same parameters, up to their error."""
    fit = fit_reading_speed(drawn(16, idle=0.1))
    again = fit_reading_speed(fit.simulate(200, np.random.default_rng(2)))
    np.testing.assert_allclose(again.estimates, fit.estimates, atol=0.2)
    assert again.details["share_idle"] == pytest.approx(fit.details["share_idle"], abs=0.05)


def test_plots_label_their_axes_with_units():
    """Drawn on given axes; the envelope holds most of the workers of a study from the model."""
    mpl.use("Agg")
    from matplotlib.figure import Figure

    fit = fit_reading_speed(drawn(17, idle=0.1))
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
    fit = fit_reading_speed(reads, language=language)
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
        fit_reading_speed(drawn(seed, workers=100, items=20, idle=0.15, skimmed=0.1)) for seed in seeds(40)
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
        fit_reading_speed(reads)


@pytest.mark.parametrize("method", ["mixture", "median"])
def test_workers_with_a_speed_each_that_never_varies_are_fitted(method):
    """How far one worker's reads scatter is then 0, which is no reason to stop."""
    fit = fit_reading_speed(computed(lambda w, _i: np.log(2 + 2 * (w % 2))), method=method)

    assert fit.parameters["reading_speed_mu"] == pytest.approx(np.log(8) / 2, abs=1e-3)


@pytest.mark.parametrize("method", ["mixture", "median"])
def test_one_read_that_differs_tells_no_spread_of_workers(method):
    """The likelihood runs to the end of its numbers there: it is stopped, and the fit refused."""
    reads = computed(lambda w, i: np.log(4) if (w, i) != (3, 3) else np.log(0.5))

    with pytest.raises(NotIdentifiedError, match="differ by no more than chance"):
        fit_reading_speed(reads, method=method)
