"""How often the intervals of times away and session lengths hold the truth: the tables of docs/calibration.md.

    python -m benchmarks.coverage_durations [--replications 1000] [--only plain|sessions|disturbed|wrong|people|naive]
                                            [--jobs 1]

Each line is one study. Studies with disturbances are simulated whole (follows, visits, prompts) and fitted from their
tables; of plain ones only n and T of each worker are drawn, which is all that the likelihood sees. The columns: the median of
log(estimate / truth) and its robust standard deviation, the share of 95 % intervals that hold the truth by the default
(profile; worker bootstrap where the test within workers, made for whole studies, rejects), by profile and by delta method, and how many
default intervals are closed at both ends. `people` are not as the model says (`benchmarks.people_durations`), and whole fits are made of
their tables: what the default intervals hold, and which warnings were said. The Monte-Carlo error of a share of .95 is .007 at 1000 replications.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.people_durations import PEOPLE, SESSION, tables, truth_of
from benchmarks.replications import engine_arguments, replicated
from calibration.durations.at_risk import Totals
from calibration.durations.checks import within_worker_test
from calibration.durations.exposures import away_exposure
from calibration.durations.fit import fit_away, fit_durations, fit_session, interval_methods
from calibration.durations.result import naive_away, naive_session
from calibration.durations.simulate import Diary, personal_means, simulate_visits
from calibration.inference.goodness import REJECTED
from calibration.inference.results import GoodnessOfFit, NotIdentifiedError
from calibration.inference.uncertainty import Interval
from metrics.msu.score import Population
from metrics.parallel import Engine, open_engine

HOUR = 3600
RESAMPLES = 200
RARE = 0.005
METHODS = ("default", "profile", "delta")
REAL = Diary(workers=100, topics=2, enrol_by_visit=0.5, late_by=0.5, withdrawn=0.2)

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
    ("100 workers x 3 topics, 3/1.5 h, 3 days", 3, 1.5, Diary(workers=100, topics=3, days=3)),
    ("100 x 2, 24/24 h, late, withdrawn, enrolled by visits", 24, 24, REAL),
    (
        "the same, with reminders after 30 h",
        24,
        24,
        replace(REAL, remind_after_seconds=30 * HOUR, reminder_works=0.5),
    ),
    ("the same, with a visit gap of 1 h", 24, 24, replace(REAL, gap_seconds=HOUR)),
)
WRONG = (
    (
        "100 workers, intervals Weibull, shape .6",
        24,
        24,
        Diary(workers=100, within="weibull", within_shape=0.6),
    ),
    ("100 workers, intervals gamma, shape 2", 24, 24, Diary(workers=100, within="gamma", within_shape=2)),
    (
        "100 workers, intervals log-normal, sigma 1",
        24,
        24,
        Diary(workers=100, within="log_normal", within_shape=1),
    ),
    ("100 workers, means inverse gamma", 24, 24, Diary(workers=100, between="inverse_gamma")),
    ("100 workers of two kinds", 24, 24, Diary(workers=100, between="two_point")),
    ("100 workers, 10 % leave silently", 24, 24, Diary(workers=100, dropping_out=0.1)),
)

Fit = tuple[np.ndarray, dict[str, tuple[Interval, ...]]]
Study = tuple[str, np.ndarray, Callable[[int], Fit]]


def holds(interval: Interval, truth: float) -> bool:
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


def fitted(totals: Totals, within: GoodnessOfFit | None, seed: int) -> Fit:
    """M and S, and their intervals by method; as `fit_exposure` does, without what does not change them."""
    top = fit_durations(totals)
    rejected = within is not None and within.p_value < REJECTED
    methods = interval_methods(totals, top, rejected=rejected, resamples=RESAMPLES, seed=seed)
    found = {how: methods[how].intervals(0.95)[:2] for how in METHODS[1:] if how in methods}
    first = next(iter(methods))
    found["default"] = found[first] if first in found else methods[first].intervals(0.95)[:2]
    found.setdefault("delta", ((0.0, 0.0), (0.0, 0.0)))
    return np.array([top.mean, max(top.sd, 1e-3 * top.mean)]), found


def line(label: str, truth: np.ndarray, fits: list[Fit], refused: int) -> str:
    logs = np.log(np.array([estimate for estimate, _ in fits]) / truth)
    cells = []
    for place in (0, 1):
        spread = np.subtract(*np.quantile(logs[:, place], [0.75, 0.25])) / 1.349
        shares = [np.mean([holds(found[how][place], truth[place]) for _, found in fits]) for how in METHODS]
        both = np.mean([None not in found["default"][place] for _, found in fits])
        cells.append(
            f"{np.median(logs[:, place]):+.3f} | {spread:.3f} | "
            + " | ".join(f"{s:.3f}" for s in shares)
            + f" | {both:.2f}"
        )
    note = f" ({refused} refused)" if refused else ""
    return f"| {label}{note} | " + " | ".join(cells) + " |"


def attempted(fit: Callable[[int], Fit], seed: int) -> Fit | None:
    """Fit a study; None where it is refused."""
    try:
        return fit(seed)
    except NotIdentifiedError:
        return None


def table(studies: Iterator[Study], replications: int, engine: Engine) -> None:
    head = "error | spread | default | profile | delta | closed"
    print(f"| study | M: {head} | S: {head} |")
    print("|---" * 13 + "|")
    for label, truth, fit in studies:
        found = replicated(engine, partial(attempted, fit), replications)
        fits = [one for one in found if one is not None]
        print(line(label, truth, fits, replications - len(fits)), flush=True)


def plain_fit(workers: int, mean: float, sd: float, days: float, seed: int) -> Fit:
    rng = np.random.default_rng([seed, workers, days, sd])
    away = personal_means(mean, sd, workers, "log_normal", rng)
    events = rng.poisson(days * 24 / away).astype(np.float64)
    return fitted(Totals(events=events, seconds=np.full(workers, days * 24.0)), None, seed)


def plain() -> Iterator[Study]:
    for workers, mean, sd, days in PLAIN:
        fit = partial(plain_fit, workers, mean, sd, days)
        yield f"{workers} workers, {mean}/{sd} h, {days} days", np.array([mean, sd], dtype=float), fit


def session_fit(workers: int, mean: float, sd: float, visits: float, material: float, seed: int) -> Fit:
    rng = np.random.default_rng([seed, workers, sd, visits])
    own = personal_means(mean, sd, workers, "log_normal", rng)
    worker = np.repeat(np.arange(workers), 1 + rng.poisson(visits - 1, workers))
    wanted = rng.standard_exponential(worker.size) * own[worker]
    there = rng.standard_exponential(worker.size) * material if math.isfinite(material) else np.inf
    totals = Totals(
        events=np.bincount(worker, wanted <= there, minlength=workers),
        seconds=np.bincount(worker, np.minimum(wanted, there), minlength=workers),
    )
    return fitted(totals, None, seed)


def sessions() -> Iterator[Study]:
    for workers, mean, sd, visits, material in SESSIONS:
        fit = partial(session_fit, workers, mean, sd, visits, material)
        label = f"{workers} workers, {mean}/{sd} s, {visits} visits, material {material} s"
        yield label, np.array([mean, sd], dtype=float), fit


def whole_fit(people: Population, diary: Diary, number: int, seed: int) -> Fit:
    tables = simulate_visits(people, diary, np.random.default_rng([seed, number]))
    exposure = away_exposure(tables, gap_seconds=diary.gap_seconds)
    return fitted(exposure.totals(), within_worker_test(exposure), seed)


def whole(regimes: tuple[tuple[str, float, float, Diary], ...]) -> Iterator[Study]:
    for number, (label, mean, sd, diary) in enumerate(regimes):
        people = Population(
            away_mean_seconds=mean * HOUR,
            away_sd_seconds=sd * HOUR,
            session_mean_seconds=180,
            session_sd_seconds=90,
        )
        yield label, np.array([mean * HOUR, sd * HOUR]), partial(whole_fit, people, diary, number)


class PeopleFit(NamedTuple):
    """What a whole fit of M and S says: by how much they are off, whether their intervals hold and have an upper end, its warnings."""

    errors: np.ndarray
    held: tuple[bool, bool]
    is_closed: bool
    said: frozenset[str]

    @property
    def silent(self) -> tuple[bool, bool]:
        """Whether each is missed without a warning but that people or days are few."""
        speaks = any(not name.startswith("few_") for name in self.said)
        return not (self.held[0] or speaks), not (self.held[1] or speaks)


def people_fit(name: str, workers: int, days: int, truths: tuple[float, float], seed: int) -> PeopleFit:
    who = PEOPLE[name]
    study = tables(who, workers, days, np.random.default_rng([seed, workers]))
    fit = (
        fit_away(study, resamples=RESAMPLES)
        if who.correlation is None
        else fit_session(study, beside=away_exposure(study), resamples=RESAMPLES)
    )
    mean, sd = list(fit.conf_int().values())[:2]
    return PeopleFit(
        errors=fit.estimates[:2] / truths,
        held=(holds(mean, truths[0]), holds(sd, truths[1])),
        is_closed=sd[1] is not None,
        said=frozenset(one.name for one in fit.diagnostics if one.severity == "warning"),
    )


def people(chosen: argparse.Namespace, engine: Engine) -> None:
    """Print what whole fits say of people who are not as the model says; an attempt without a number counts as refused."""
    head = "M | S | M: covered | S: covered | M: silent | S: silent | S: no upper end | any warning | names of the warnings"
    print(f"| people | {head} |")
    print("|---" * 10 + "|")
    for name, who in PEOPLE.items():
        if chosen.named and not any(part in name for part in chosen.named):
            continue
        truths = truth_of(who) if who.correlation is None else (SESSION, SESSION)
        found = replicated(
            engine, partial(people_fit, name, chosen.workers, chosen.days, truths), chosen.replications
        )
        shares = [
            *np.median([one.errors for one in found], axis=0),
            *np.mean([one.held for one in found], axis=0),
            *np.mean([one.silent for one in found], axis=0),
            1 - np.mean([one.is_closed for one in found]),
            np.mean([any(not name.startswith("few_") for name in one.said) for one in found]),
        ]
        warned = Counter(word for one in found for word in one.said)
        names = ", ".join(
            f"`{one}` {count / len(found):.2f}"
            for one, count in warned.most_common()
            if count >= RARE * len(found)
        )
        print(f"| {name} | {' | '.join(f'{one:.2f}' for one in shares)} | {names} |", flush=True)


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
        diary = Diary(workers=100, enrol_by_visit=enrolled, material_seconds=120)
        study = simulate_visits(people, diary, np.random.default_rng([seed, int(2 * enrolled)]))
        for what, ways in (("away", naive_away(study)), ("session", naive_session(study))):
            mean, sd = truths[what]
            label = f"{what}, enrolled by a visit {enrolled:g}"
            found |= {(label, way.name): (way.mean / mean - 1, way.sd / sd - 1) for way in ways}
    return found


def naive(replications: int, engine: Engine) -> None:
    """Print the median relative errors of naive estimates."""
    found = replicated(engine, naive_study, replications)
    for what, way in found[0]:
        mean, sd = np.nanmedian([one[what, way] for one in found], axis=0)
        print(f"| {what} | {way} | {mean:+.0%} | {sd:+.0%} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--only", choices=["plain", "sessions", "disturbed", "wrong", "people", "naive"])
    parser.add_argument("--workers", type=int, default=100, help="of the studies of people")
    parser.add_argument("--days", type=int, default=7, help="of the studies of people")
    parser.add_argument("--named", action="append", help="only people whose name has this")
    engine_arguments(parser)
    chosen = parser.parse_args()
    with open_engine(jobs=chosen.jobs, scheduler=chosen.scheduler) as engine:
        if chosen.only in {None, "people"}:
            people(chosen, engine)
        if chosen.only in {None, "naive"}:
            naive(chosen.replications, engine)
        for name, studies in (
            ("plain", plain()),
            ("sessions", sessions()),
            ("disturbed", whole(DISTURBED)),
            ("wrong", whole(WRONG)),
        ):
            if chosen.only in {None, name}:
                print(f"\n{name}\n")
                table(studies, chosen.replications, engine)


if __name__ == "__main__":
    main()
