"""A measure of your own in one file: M-measure for a reader who tires evenly by half-lives, not all at once.

Run it from the project's folder:

    python examples/own_measure.py
"""

from pathlib import Path
from typing import ClassVar

from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.readers.run_files import read_runs
from metrics.registry import measure
from metrics.summaries import MMeasure, score_summaries
from metrics.summaries.readings import FloatArray

STUDY = Path(__file__).parent / "two_layered"


@measure
class HalfLifeM(MMeasure):
    """M-measure with d(u) = 2 ** (-pos(u) / L): half of the interest is lost every L characters, never all of it."""

    name: ClassVar[str] = "HalfLifeM"
    source: ClassVar[str] = "this example"
    definition: ClassVar[str] = "M-measure with a discount that halves every `patience` characters."

    def discount(self, offset_chars: FloatArray) -> FloatArray:
        """Return d(u) of iUnits that end at these offsets."""
        return 0.5 ** (offset_chars / self.patience)


def main() -> None:
    """Score the bundled runs with the new measure beside the published one."""
    collection = read_summary_collection(STUDY / "collection")
    paths = sorted((STUDY / "runs").glob("*.xml"))
    runs = read_runs(paths, lambda path, name: read_summary_run(path, collection, name=name))
    measures = [MMeasure(patience=500), HalfLifeM(patience=500)]
    scores = score_summaries(collection, runs, measures)
    means = scores[scores["topic"] == "all"]
    print(means.pivot_table(index="run", columns="metric", values="value").round(3).to_string())


if __name__ == "__main__":
    main()
