"""Reading of the sides of pairs by system: seconds, and what was opened.

A side is one showing of a system's text in a judgment that counts and whose page logged anything. Of each system

    seconds         mean over sides of the visible seconds of all items, over all loads of the page
    opened_share    share of sides on which a source (a second layer) was opened, of those that have any
    opened_number   mean number of those opened, of the same sides

A source of an answer is an item ``ID`` with its text as the item ``ID:text``, which is on the screen only where the source was opened; how many
second layers of a summary were opened is in table stops. Intervals are over topics and people (`metrics.agreement.crossed_errors`), those of seconds and numbers
on the log scale, mean exp(+- t se / mean), since their distributions have long tails.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from calibration.tables.preferences import completed, counted_judgments, knows_workers
from calibration.tables.tables import SIDES
from metrics.agreement.crossed_errors import crossing
from metrics.arrays import Bools, Floats

READING = "reading.csv"
READING_COLUMNS = ("task", "system", "quantity", "value", "low", "high", "sides", "topics", "workers")
SECONDS, OPENED_SHARE, OPENED_NUMBER = "seconds", "opened_share", "opened_number"
"""Values of column ``quantity``."""
SOURCE_TEXT = ":text"
"""End of the id of what a source says."""
SOURCE = r"(?:b\d+|end):.*"
"""Id of the line of a source: the block that cites it, and its label."""
_SIDE = ["judgment", "side"]


def reading_rows(tables: Mapping[str, pd.DataFrame], *, complete_only: bool = False) -> pd.DataFrame:
    """Return how long each system's sides were read, and how often a source was opened.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        With preferences; reads and stops where pages were logged.
    complete_only : bool
        Count only workers who completed the study.

    Returns
    -------
    DataFrame
        One row per task, system and quantity; `READING_COLUMNS`. Nothing where no reading was logged, or judgments have no id. ``low`` and
        ``high`` are NaN where topics or people are too few.
    """
    sides = _sides(tables, complete_only=complete_only)
    rows = [
        {"task": task, "system": system, **row}
        for (task, system), of_system in sides.groupby(["task", "system"], sort=True)
        for row in _quantities(of_system)
    ]
    return pd.DataFrame(rows, columns=list(READING_COLUMNS))


def _sides(tables: Mapping[str, pd.DataFrame], *, complete_only: bool) -> pd.DataFrame:
    """Return a row per side: task, topic, system, worker, seconds, opened (NaN without anything to open)."""
    columns = ["task", "topic", "system", "worker", SECONDS, OPENED_NUMBER]
    judged, reads = tables["preferences"], tables.get("reads")
    if reads is None or "judgment" not in judged or judged["judgment"].isna().all():
        return pd.DataFrame(columns=columns)
    judged = counted_judgments(judged, workers=tables.get("workers"))
    if complete_only:
        judged = judged[judged["worker"].isin(completed(tables.get("workers")))]
    logged = reads[reads["side"].notna() & reads["judgment"].isin(judged["judgment"])]
    judged = judged[judged["judgment"].isin(logged["judgment"])]
    sides = pd.concat(
        judged[["judgment", "task", "topic", "worker", f"system_{side}"]]
        .astype("str")
        .set_axis(["judgment", "task", "topic", "worker", "system"], axis="columns")
        .assign(side=side)
        for side in SIDES
    ).set_index(_SIDE)
    logged = logged.astype({"judgment": "str", "side": "str", "item": "str"})
    seconds = logged.groupby(_SIDE)["dwell_seconds"].sum()
    opened = _opened(logged, sides, tables.get("stops"))
    return sides.assign(
        **{SECONDS: seconds.reindex(sides.index, fill_value=0.0), OPENED_NUMBER: opened}
    ).reset_index(drop=True)[columns]


def _opened(logged: pd.DataFrame, sides: pd.DataFrame, stops: pd.DataFrame | None) -> "pd.Series[float]":
    """Return how much was opened on each side, NaN where there is nothing to open."""
    texts = logged[logged["item"].str.endswith(SOURCE_TEXT)]
    sources = texts["item"].str.removesuffix(SOURCE_TEXT)
    links = logged[logged["kind"] == "link"]
    number = sources.groupby([texts[name] for name in _SIDE]).nunique()
    opened = number.reindex(sides.index, fill_value=0).astype("float64")
    opened = opened.where(_are_linked(sides, links[links["item"].str.fullmatch(SOURCE)]))
    if stops is None or not {"opened", *_SIDE} <= set(stops):
        return opened
    stopped = stops[stops["judgment"].notna() & stops["side"].notna()].astype(dict.fromkeys(_SIDE, "str"))
    is_list = stopped["ranks"].notna() if "ranks" in stopped else False
    by_side = stopped["opened"].astype("float64").mask(is_list).groupby([stopped[name] for name in _SIDE])
    layers = by_side.max().reindex(sides.index)
    return opened.mask(sides.index.isin(by_side.groups), layers.where(_are_linked(sides, links)))


def _are_linked(sides: pd.DataFrame, links: pd.DataFrame) -> Bools:
    """Return whether the systems' texts of these topics have any of the links, (sides,)."""
    texts = pd.MultiIndex.from_frame(links[["topic", "system"]].astype("str").drop_duplicates())
    return np.asarray(pd.MultiIndex.from_frame(sides[["topic", "system"]]).isin(texts))


def _quantities(sides: pd.DataFrame) -> Iterator[dict[str, Any]]:
    yield _mean(SECONDS, sides, sides[SECONDS].to_numpy(np.float64))
    openable = sides[sides[OPENED_NUMBER].notna()]
    if len(openable):
        number = openable[OPENED_NUMBER].to_numpy(np.float64)
        yield _mean(OPENED_SHARE, openable, (number > 0).astype(np.float64))
        yield _mean(OPENED_NUMBER, openable, number)


def _mean(quantity: str, sides: pd.DataFrame, values: Floats) -> dict[str, Any]:
    """Return the mean over sides with its interval, on the scale of the quantity."""
    mean, parts = float(values.mean()), np.full(len(values), 1 / len(values))
    knows = knows_workers(sides)
    worker = pd.factorize(sides["worker"])[0] if knows else None
    crossed = crossing(pd.factorize(sides["topic"])[0], worker)
    reach = crossed.error((values - mean) * parts, parts).half_width()
    low, high = mean - reach, mean + reach
    if quantity != OPENED_SHARE and mean > 0:
        low, high = mean * np.exp(-reach / mean), mean * np.exp(reach / mean)
    return {
        "quantity": quantity,
        "value": mean,
        "low": float(np.maximum(low, 0.0)),
        "high": float(np.minimum(high, 1.0)) if quantity == OPENED_SHARE else high,
        "sides": len(values),
        "topics": crossed.queries,
        "workers": crossed.workers if knows else None,
    }
