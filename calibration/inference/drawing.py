"""What all plots of fits have in common: a title that says what to look for, a legend that covers nothing."""

from typing import TYPE_CHECKING

from calibration.inference.wording import shown_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND = "0.85"
LEGEND_BELOW = 4.5
"""Font sizes between axes and legend; tick labels and one line of axis label fit between."""


def finish(ax: "Axes", shows: str, look_for: str) -> None:
    """Give axes their title in two lines, what they show and what to look for, and their legend below.

    Below the axes a legend hides no data, wherever these lie.
    """
    ax.set_title(f"{shows}\n{look_for}", fontsize="medium")
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=LEGEND_BELOW,
        ncols=min(3, len(ax.get_legend_handles_labels()[1])),
        frameon=False,
        fontsize="small",
    )


def of_studies(level: float) -> str:
    """Return the legend of a band: `95 % of simulated studies`."""
    return f"{shown_level(level)} of simulated studies"


def tails(level: float) -> tuple[float, float]:
    """Return the two shares between which a band of this level lies: 0.025 and 0.975."""
    return (1 - level) / 2, (1 + level) / 2
