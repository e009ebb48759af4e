"""A measure with a parameter of every kind, for the tests of what all measures share."""

from typing import Literal

from metrics.registry import Measure, measure, short_number


@measure
class Sample(Measure):
    name = "S"
    family = "tests"
    source = "nobody, eq. 0"
    definition = "A measure with a parameter of every kind."

    scale: float = 10
    limit: int | None = None
    side: Literal["left", "right"] = "left"
    graded: bool = True

    @property
    def column(self) -> str:
        return f"{self.name}@{short_number(self.scale)}"
