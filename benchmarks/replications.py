"""What programs of coverage share: studies by one process or many, their options, and what is counted of a study.

Programs that use it are run as modules (`python -m benchmarks.coverage_push --jobs 2`), so that other processes find what they
are to do.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from typing import TypeVar

from scipy.special import stdtrit
from tqdm import tqdm

from calibration.checks.finding import Finding
from calibration.inference.uncertainty import Interval
from metrics.parallel import Executor, open_engine

Result = TypeVar("Result")


@contextmanager
def opened(parser: argparse.ArgumentParser) -> Iterator[tuple[argparse.Namespace, Executor]]:
    """Read the command line with `--jobs` and `--scheduler` beside a program's own options, and open the engine."""
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes on this machine; the numbers are the same"
    )
    parser.add_argument(
        "--scheduler", help="address of a running Dask cluster that draws the studies instead"
    )
    options = parser.parse_args()
    with open_engine(jobs=options.jobs, scheduler=options.scheduler) as engine:
        yield options, engine


def run_parts(title: str, replications: int, parts: Mapping[str, Callable[[int, Executor], None]]) -> None:
    """Run a program of several tables, each of which takes the number of studies and the engine.

    Options are `--replications` and `--only`.
    """
    parser = argparse.ArgumentParser(description=title.splitlines()[0])
    parser.add_argument("--replications", type=int, default=replications)
    parser.add_argument("--only", choices=parts)
    with opened(parser) as (options, engine):
        for name, part in parts.items():
            if options.only in (None, name):
                print(f"\n{name}, {options.replications} studies a line\n")
                part(options.replications, engine)


def designs_parser(title: str, studies: int, designs: str) -> argparse.ArgumentParser:
    """Return the parser of a program that takes the number of studies and names of some designs."""
    parser = argparse.ArgumentParser(description=title.splitlines()[0])
    parser.add_argument("studies", nargs="?", type=int, default=studies)
    parser.add_argument("names", nargs="*", metavar=designs)
    return parser


def print_head(*columns: str) -> None:
    """Print the head of a Markdown table."""
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def print_row(*cells: str) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(cells)} |", flush=True)


def replicated(engine: Executor, study: Callable[[int], Result], count: int) -> list[Result]:
    """Draw studies 0 to ``count`` - 1; return what each gave, in this order.

    Parameters
    ----------
    engine : Executor
        Who draws them.
    study : callable
        Number of a study -> what it gives. A function of a module, or a `functools.partial` of one.
    count : int
        How many.
    """
    numbered = ((number, study) for number in range(count))
    drawn = ((number, result) for (number, _), result in engine.results(_drawn, "replications", numbered))
    return [
        result for _, result in sorted(tqdm(drawn, total=count, leave=False, disable=None), key=itemgetter(0))
    ]


def _drawn(_: str, numbered: tuple[int, Callable[[int], Result]]) -> Result:
    number, study = numbered
    return study(number)


def holds(interval: Interval, truth: float) -> bool:
    """Return whether an interval holds the truth; an open end is infinite."""
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)


def hull(intervals: Iterable[Interval]) -> Interval:
    """Return the smallest interval that holds all of these."""
    lows, highs = zip(*intervals, strict=True)
    return None if None in lows else min(lows), None if None in highs else max(highs)


def warned(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the names of the warnings, but those of few people, topics or items."""
    names = (finding.name for finding in findings if finding.severity == "warning")
    return frozenset(name for name in names if not name.startswith("few_"))


def commonest(names: Iterable[Iterable[str]], studies: int, most: int | None = 3) -> str:
    """Return the commonest names with the share of the studies that have them."""
    counted = Counter(name for each in names for name in each).most_common(most)
    return ", ".join(f"`{name}` {count / studies:.2f}" for name, count in counted)


def few(people: float, topics: float = math.inf) -> float:
    """Return t / 1.96 with fewer than 30 people or 20 topics, else 1: what an interval of few is wider by."""
    scarcer = min(people, topics)
    return float(stdtrit(scarcer - 1, 0.975)) / 1.96 if people < 30 or topics < 20 else 1.0
