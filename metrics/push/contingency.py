"""Contingency measures of push notifications: five weighted totals a topic.

| the system | on eventful days | on silent days |
|---|---|---|
| pushed relevant | + G_E (per unit of gain) | |
| pushed non-relevant | - P_E (per push) | - P_0 (per push) |
| stayed silent | - S_E (per day) | + S_0 (per day) |

Source: Tan, Roegiest, Lin, Clarke (SIGIR 2016), Table 1. Which days are silent is decided by the pool alone, so that
the cells of two runs are about the same days; redundant pushes are in no cell. ELG and nCG are ratios and no members
of the family, but their ways with silent days are: see `INSTANCES`.
"""

import sys
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, get_args

from metrics.arrays import Floats
from metrics.push.days import DayTable
from metrics.push.measures import SOURCE, T11U, PushMeasure
from metrics.registry import ParameterRange, measure

CellName: TypeAlias = Literal[
    "gain", "nonrelevant_eventful", "silent_eventful", "nonrelevant_silent", "silent_silent"
]
Weight: TypeAlias = Annotated[float, ParameterRange(-sys.float_info.max, sys.float_info.max, "be finite")]
CELLS: tuple[CellName, ...] = get_args(CellName)


def cell_totals(table: DayTable) -> dict[CellName, Floats]:
    """Sum each contingency cell over the days of each topic.

    Returns
    -------
    dict of str to (topics,) ndarray of float
        gain: credited; nonrelevant_*: numbers of pushes; silent_*: numbers of days without pushes.
    """
    eventful = table.pool_eventful
    columns = (
        table.gain,
        table.nonrelevant * eventful,
        table.quiet & eventful,
        table.nonrelevant * ~eventful,
        table.quiet & ~eventful,
    )
    return {name: table.totals(column) for name, column in zip(CELLS, columns, strict=True)}


@measure
class PushCell(PushMeasure):
    """One cell of the contingency table, summed over the days of a topic.

    Attributes
    ----------
    cell : str
        One of `CELLS`, which are the columns of the table push_cells.

    Examples
    --------
    >>> PushCell(cell="silent_silent").column
    'silent_silent'
    """

    name = "cell"
    source = f"{SOURCE}, table 1"
    definition = "One total of the contingency table: gain, non-relevant pushes, or silent days."

    cell: CellName = "gain"

    @property
    def column(self) -> str:
        """Name of the cell."""
        return self.cell

    def topic_values(self, table: DayTable) -> Floats:
        """Return the cell's total of each topic, (topics,)."""
        return cell_totals(table)[self.cell]


@measure
class Contingency(PushMeasure):
    """Weighted sum of the five cells.

    utility = G_E gain - P_E nonrelevant_eventful - S_E silent_eventful - P_0 nonrelevant_silent + S_0 silent_silent

    Attributes
    ----------
    G_E, P_E, S_E, P_0, S_0 : float
        Finite weights, named as in the table; the default takes gain alone.

    Examples
    --------
    A push on a silent day costs half of what a first relevant one gains:

    >>> Contingency(P_0=0.5)
    Contingency(G_E=1, P_0=0.5)
    """

    name = "Contingency"
    source = f"{SOURCE}, table 1"
    definition = "Weighted gain less pain of pushing and of silence, apart on eventful and silent days."

    G_E: Weight = 1
    P_E: Weight = 0
    S_E: Weight = 0
    P_0: Weight = 0
    S_0: Weight = 0

    @classmethod
    def of_t11u(cls, other: T11U) -> "Contingency":
        """Return the member that is T11U.

        Its parameters are G_E = alpha and P_E = P_0 = 1 - alpha; silence counts nothing.

        Raises
        ------
        ValueError
            If ``other`` counts redundant pushes as pain: they are in no cell.
        """
        if other.redundant == "pain":
            raise ValueError(
                "redundant pushes are in no cell, so T11U(redundant='pain') is no member of the family"
            )
        shared: dict[str, Any] = {
            name: value for name, value in other.parameters().items() if name not in {"alpha", "redundant"}
        }
        return cls(G_E=other.alpha, P_E=1 - other.alpha, P_0=1 - other.alpha, **shared)

    @property
    def weights(self) -> dict[str, float]:
        """The five weights by name."""
        return {"G_E": self.G_E, "P_E": self.P_E, "S_E": self.S_E, "P_0": self.P_0, "S_0": self.S_0}

    def topic_values(self, table: DayTable) -> Floats:
        """Return the utility of each topic, (topics,)."""
        cells = cell_totals(table)
        return (
            self.G_E * cells["gain"]
            - self.P_E * cells["nonrelevant_eventful"]
            - self.S_E * cells["silent_eventful"]
            - self.P_0 * cells["nonrelevant_silent"]
            + self.S_0 * cells["silent_silent"]
        )


INSTANCES: MappingProxyType[str, Contingency] = MappingProxyType(
    {
        "T11U": Contingency(G_E=0.66, P_E=0.34, P_0=0.34),
        "T11U-silence": Contingency(G_E=0.66, P_E=0.34, P_0=0.34, S_0=0.66),
        "gain": Contingency(G_E=1),
        "gain-silence": Contingency(G_E=1, S_0=1),
    }
)
"""Named members of the family.

T11U at alpha = 0.66. T11U-silence: besides, a silent day left alone is worth a relevant push, the step from T11U towards ELG-1 that the
paper's section 5 names. gain and gain-silence: no pain at all, and silence that is worth nothing (as in ELG-0) or one push of the
highest gain (as in ELG-1).
"""
