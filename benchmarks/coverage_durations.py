"""Simulated coverage of times away and session lengths.

Tables of docs/evidence.md.

    python -m benchmarks.coverage_durations [--replications 1000] [--only plain|sessions|disturbed|people|naive]
                                            [--workers 100] [--days 7] [--named PART] [--jobs 1]

Each line is one study. Studies with disturbances are simulated whole (follows, visits, prompts) and fitted from their
tables; of plain ones only n and T of each worker are drawn, which is all that the likelihood sees. The columns: the median of
log(estimate / truth) and its robust standard deviation, the share of 95 % intervals that hold the truth, and the width: the median
interval on the log scale, in units of 2 x 1.96 standard deviations of log(estimate), times 1.96 / t with few workers.
`people` are not as the model says (`benchmarks.people_durations`). Held: the interval holds the truth, or the range of other laws does, or a
warning names the cause (`People.causes`). The Monte-Carlo error of a share of .95 is .007 at 1000 replications.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.naive.durations import naive_away, naive_session
from benchmarks.people_durations import PEOPLE, SESSION, tables, truth_of
from benchmarks.replications import commonest, few, holds, opened, print_head, print_row, replicated, warned
from calibration.checks.registry import run_checks
from calibration.inference.results import NotIdentifiedError
from calibration.inference.uncertainty import Interval
from calibration.models.durations.exposure import WorkerTotals
from calibration.models.durations.fit import fit_durations, fit_exposure
from calibration.models.durations.from_tables import away_exposure, session_exposure
from calibration.models.durations.intervals import DurationProfile
from calibration.models.durations.simulate import ObservationDesign, personal_means, simulate_visits
from calibration.user_model.model import OtherLaw
from metrics.msu.trails import Population
from metrics.parallel import Executor

HOUR = 3600
RARE = 0.015
REAL = ObservationDesign(workers=100, topics=2, enrol_by_visit=0.5, late_by=0.5, withdrawn=0.2)

# workers, M_A, S_A in hours, days
PLAIN = (
    (50, 24, 12, 7),
    (50, 24, 48, 7),
    (100, 24, 24, 7),
    (100, 24, 48, 2),
    (300, 24, 12, 2),
    (300, 24, 24, 7),
    (30, 24, 24, 3),
)
# workers, M_D, S_D in seconds, visits on average, mean seconds that what is new takes to read
SESSIONS = (
    (50, 180, 180, 7, math.inf),
    (100, 180, 180, 10, 300),
    (100, 120, 60, 10, 120),
    (300, 120, 60, 5, 60),
)
# what is said of it, M_A and S_A in hours, the study
DISTURBED = (
    ("100 workers x 3 topics, 3/1.5 h, 3 days", 3, 1.5, ObservationDesign(workers=100, topics=3, days=3)),
    ("100 x 2, 24/24 h, late, withdrawn, enrolled by visits", 24, 24, REAL),
    (
        "the same, with reminders after 30 h",
        24,
        24,
        replace(REAL, remind_after_seconds=30 * HOUR, reminder_works=0.5),
    ),
    ("the same, with a visit gap of 1 h", 24, 24, replace(REAL, gap_seconds=HOUR)),
)
Fit = tuple[np.ndarray, tuple[Interval, ...]]
Study = tuple[str, np.ndarray, Callable[[int], Fit], int]


def fitted(totals: WorkerTotals) -> Fit:
    """M and S, and their intervals."""
    top = fit_durations(totals)
    profile = DurationProfile(totals=totals, top=top, df=len(totals) - 1)
    return np.array([top.mean, max(top.sd, 1e-3 * top.mean)]), profile.intervals(0.95)[:2]


def width(intervals: list[Interval], errors: np.ndarray, workers: int) -> float:
    """Return the median width on the log scale over that of a good estimator; an open end, or one at 0, is infinite."""
    logs = [math.log(high / low) if low and high else math.inf for low, high in intervals]
    return float(np.median(logs)) / (2 * 1.96 * float(np.std(errors))) / few(workers)


def cells_of(truth: np.ndarray, fits: list[Fit], workers: int) -> list[str]:
    logs = np.log(np.array([estimate for estimate, _ in fits]) / truth)
    cells = []
    for place in (0, 1):
        spread = np.subtract(*np.quantile(logs[:, place], [0.75, 0.25])) / 1.349
        intervals = [found[place] for _, found in fits]
        covered = np.mean([holds(one, truth[place]) for one in intervals])
        wide = width(intervals, logs[:, place], workers)
        cells += [f"{np.median(logs[:, place]):+.3f}", f"{spread:.3f}", f"{covered:.3f}", f"{wide:.2f}"]
    return cells


def attempted(fit: Callable[[int], Fit], seed: int) -> Fit | None:
    """Fit a study; None where it is refused."""
    try:
        return fit(seed)
    except NotIdentifiedError:
        return None


def table(studies: Iterator[Study], replications: int, engine: Executor) -> None:
    print_head(
        "study", *(f"{of}{what}" for of in ("M: ", "S: ") for what in ("error", "spread", "covered", "width"))
    )
    for label, truth, fit, workers in studies:
        found = replicated(engine, partial(attempted, fit), replications)
        fits = [one for one in found if one is not None]
        refused = replications - len(fits)
        print_row(label + (f" ({refused} refused)" if refused else ""), *cells_of(truth, fits, workers))


def plain_fit(workers: int, mean: float, sd: float, days: float, seed: int) -> Fit:
    rng = np.random.default_rng([seed, workers, days, sd])
    away = personal_means(mean, sd, workers, "log_normal", rng)
    events = rng.poisson(days * 24 / away).astype(np.float64)
    return fitted(WorkerTotals(events=events, seconds=np.full(workers, days * 24.0)))


def plain() -> Iterator[Study]:
    for workers, mean, sd, days in PLAIN:
        fit = partial(plain_fit, workers, mean, sd, days)
        yield (
            f"{workers} workers, {mean}/{sd} h, {days} days",
            np.array([mean, sd], dtype=float),
            fit,
            workers,
        )


def session_fit(workers: int, mean: float, sd: float, visits: float, material: float, seed: int) -> Fit:
    rng = np.random.default_rng([seed, workers, sd, visits])
    own = personal_means(mean, sd, workers, "log_normal", rng)
    worker = np.repeat(np.arange(workers), 1 + rng.poisson(visits - 1, workers))
    wanted = rng.standard_exponential(worker.size) * own[worker]
    there = rng.standard_exponential(worker.size) * material if math.isfinite(material) else np.inf
    totals = WorkerTotals(
        events=np.bincount(worker, wanted <= there, minlength=workers),
        seconds=np.bincount(worker, np.minimum(wanted, there), minlength=workers),
    )
    return fitted(totals)


def sessions() -> Iterator[Study]:
    for workers, mean, sd, visits, material in SESSIONS:
        fit = partial(session_fit, workers, mean, sd, visits, material)
        label = f"{workers} workers, {mean}/{sd} s, {visits} visits, material {material} s"
        yield label, np.array([mean, sd], dtype=float), fit, workers


def whole_fit(people: Population, diary: ObservationDesign, number: int, seed: int) -> Fit:
    tables = simulate_visits(people, diary, np.random.default_rng([seed, number]))
    exposure = away_exposure(tables, gap_seconds=diary.gap_seconds)
    return fitted(exposure.totals())


def whole(regimes: tuple[tuple[str, float, float, ObservationDesign], ...]) -> Iterator[Study]:
    for number, (label, mean, sd, diary) in enumerate(regimes):
        people = Population(
            away_mean_seconds=mean * HOUR,
            away_sd_seconds=sd * HOUR,
            session_mean_seconds=180,
            session_sd_seconds=90,
        )
        yield (
            label,
            np.array([mean * HOUR, sd * HOUR]),
            partial(whole_fit, people, diary, number),
            diary.workers,
        )


class PeopleFit(NamedTuple):
    """Results of a whole fit and its checks for M and S.

    Attributes
    ----------
    errors : (2,) ndarray of float
        Estimate / truth.
    intervals : (2,) tuple of (float or None, float or None)
        Over the truth.
    in_range : (bool, bool)
        Whether the range of other laws holds it.
    said : frozenset of str
        Names of the warnings but few_*.
    named : bool
        Whether one of them names the cause.
    """

    errors: np.ndarray
    intervals: tuple[Interval, ...]
    in_range: tuple[bool, ...]
    said: frozenset[str]
    named: bool

    def held(self, place: int) -> bool:
        """Whether the interval or the range holds the truth, or the cause is named."""
        return holds(self.intervals[place], 1.0) or self.in_range[place] or self.named


def people_fit(name: str, workers: int, days: int, truths: tuple[float, float], seed: int) -> PeopleFit:
    who = PEOPLE[name]
    study = tables(who, workers, days, np.random.default_rng([seed, workers]))
    exposure = away_exposure(study)
    if who.is_of_sessions:
        exposure = replace(session_exposure(study), away=exposure)
    fit = fit_exposure(exposure)
    findings = run_checks(fit, exposure)
    laws = {name: [] for name in fit.parameters}
    for finding in findings:
        for parameter, rows in finding.sensitivity.items():
            laws[parameter] += rows
    ends = list(fit.conf_int().values())[:2]
    pairs = list(zip(fit.parameters, truths, strict=False))
    said = warned(findings)
    return PeopleFit(
        errors=fit.estimates[:2] / truths,
        intervals=tuple(
            (low and low / truth, high and high / truth)
            for (low, high), truth in zip(ends, truths, strict=True)
        ),
        in_range=tuple(in_range(laws[parameter], truth) for parameter, truth in pairs),
        said=said,
        named=bool(said & who.causes),
    )


def in_range(laws: list[OtherLaw], truth: float) -> bool:
    """Whether the range of the intervals of other laws holds the truth."""
    lows = [law.low or 0.0 for law in laws]
    highs = [math.inf if law.high is None else law.high for law in laws]
    return bool(laws) and min(lows) <= truth <= max(highs)


def people(chosen: argparse.Namespace, engine: Executor) -> None:
    """Print what whole fits say of people who are not as the model says."""
    shares_of = [f"{of}: {what}" for what in ("covered", "width", "held") for of in ("M", "S")]
    print_head("people", "R", "M", "S", *shares_of, "warned", "names of the warnings")
    for name, who in PEOPLE.items():
        if chosen.named and not any(part in name for part in chosen.named):
            continue
        truths = (SESSION, SESSION) if who.is_of_sessions else truth_of(who)
        found = replicated(
            engine, partial(people_fit, name, chosen.workers, chosen.days, truths), chosen.replications
        )
        errors = np.array([one.errors for one in found])
        logs = np.log(np.maximum(errors, 1e-3))
        shares = [
            *np.median(errors, axis=0),
            *(np.mean([holds(one.intervals[place], 1.0) for one in found]) for place in (0, 1)),
            *(
                width([one.intervals[place] for one in found], logs[:, place], chosen.workers)
                for place in (0, 1)
            ),
            *(np.mean([one.held(place) for one in found]) for place in (0, 1)),
            np.mean([bool(one.said) for one in found]),
        ]
        counted = Counter(word for one in found for word in one.said)
        common = [[word for word in one.said if counted[word] >= RARE * len(found)] for one in found]
        listed = commonest(common, len(found), most=None)
        print_row(name, str(len(found)), *(f"{share:.2f}" for share in shares), listed)


def naive_study(seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the relative errors of M and S by every naive way: times away of 24/24 h, sessions of 120/60 s with two minutes of material."""
    people = Population(
        away_mean_seconds=24 * HOUR,
        away_sd_seconds=24 * HOUR,
        session_mean_seconds=120,
        session_sd_seconds=60,
    )
    truths = {"away": (24 * HOUR, 24 * HOUR), "session": (120, 60)}
    found = {}
    for enrolled in (0.5, 1.0):
        diary = ObservationDesign(workers=100, enrol_by_visit=enrolled, material_seconds=120)
        study = simulate_visits(people, diary, np.random.default_rng([seed, int(2 * enrolled)]))
        for what, ways in (("away", naive_away(study)), ("session", naive_session(study))):
            mean, sd = truths[what]
            label = f"{what}, enrolled by a visit {enrolled:g}"
            found |= {(label, way.name): (way.mean / mean - 1, way.sd / sd - 1) for way in ways}
    return found


def naive(replications: int, engine: Executor) -> None:
    """Print the median relative errors of naive estimates."""
    found = replicated(engine, naive_study, replications)
    for what, way in found[0]:
        mean, sd = np.nanmedian([one[what, way] for one in found], axis=0)
        print_row(what, way, f"{mean:+.0%}", f"{sd:+.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--only", choices=["plain", "sessions", "disturbed", "people", "naive"])
    parser.add_argument("--workers", type=int, default=100, help="of the studies of people")
    parser.add_argument("--days", type=int, default=7, help="of the studies of people")
    parser.add_argument("--named", action="append", help="only people whose name has this")
    with opened(parser) as (chosen, engine):
        if chosen.only in {None, "people"}:
            people(chosen, engine)
        if chosen.only in {None, "naive"}:
            naive(chosen.replications, engine)
        for name, studies in (
            ("plain", plain()),
            ("sessions", sessions()),
            ("disturbed", whole(DISTURBED)),
        ):
            if chosen.only in {None, name}:
                print(f"\n{name}\n")
                table(studies, chosen.replications, engine)


if __name__ == "__main__":
    main()
