"""Studies of a benchmark by one process or many: `--jobs` and `--scheduler`.

Programs that use it are run as modules (`python -m benchmarks.coverage_push --jobs 2`), so that other processes find what they
are to do.
"""

import argparse
from collections.abc import Callable
from operator import itemgetter
from typing import TypeVar

from tqdm import tqdm

from metrics.parallel import Executor

Result = TypeVar("Result")


def engine_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a program."""
    parser.add_argument(
        "--jobs", type=int, default=1, help="processes on this machine; the numbers are the same"
    )
    parser.add_argument(
        "--scheduler", help="address of a running Dask cluster that draws the studies instead"
    )


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
