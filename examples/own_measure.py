"""A measure of your own in one file: M-measure for a reader who tires evenly by half-lives, not all at once.

Run it from the project's folder:

    python examples/own_measure.py
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import prefcal

STUDY = Path(__file__).parent / "two_layered"


@prefcal.measure
class HalfLifeM(prefcal.MMeasure):
    """M-measure with d(u) = 2 ** (-pos(u) / L): half of the interest is lost every L characters, never all of it."""

    name = "HalfLifeM"
    source = "this example"
    definition = "M-measure with a discount that halves every `patience` characters."

    def discount(self, offset_chars: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return d(u) of iUnits that end at these offsets."""
        return 0.5 ** (offset_chars / self.patience)


def main() -> None:
    """Score the bundled runs with the new measure beside the published one."""
    collection = prefcal.read_summary_collection(STUDY / "collection")
    paths = sorted((STUDY / "runs").glob("*.xml"))
    runs = [prefcal.read_summary_run(path, collection) for path in paths]
    measures = [prefcal.MMeasure(patience=500), HalfLifeM(patience=500)]
    scores = prefcal.score_summaries(collection, runs, measures)
    means = scores[scores["topic"] == "all"]
    print(means.pivot_table(index="run", columns="metric", values="value").round(3).to_string())


if __name__ == "__main__":
    main()
