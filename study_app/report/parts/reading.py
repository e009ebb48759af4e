"""What people read and opened, by system."""

from collections.abc import Callable, Iterator

import pandas as pd

from calibration.agree.reading import OPENED_NUMBER, OPENED_SHARE, SECONDS
from study_app.report.page import (
    DASH,
    LEVEL,
    Section,
    decimal,
    decimal_interval,
    percent,
    percent_interval,
    quantity,
    quantity_interval,
    to_table,
)

QUANTITIES = (SECONDS, OPENED_SHARE, OPENED_NUMBER)
NOT_PREFERENCE = (
    "Longer is not better: people also read longer what is longer or harder, and open a source where they doubt. Read these numbers beside"
    " the preferences."
)


def reading_sections(reading: pd.DataFrame | None) -> Iterator[Section]:
    """Yield what people read and opened in each task whose pages logged it."""
    if reading is None:
        return
    tasks = list(reading.groupby("task", sort=False))
    for number, (task, rows) in enumerate(tasks):
        yield _section(
            str(task), rows, f"reading-{number + 1}" if number else "reading", alone=len(tasks) == 1
        )


def _section(task: str, rows: pd.DataFrame, key: str, *, alone: bool) -> Section:
    by_system = rows.pivot_table(
        index="system", columns="quantity", values=["value", "low", "high", "sides"], dropna=False
    )
    by_system.columns = pd.Index([f"{quantity}_{field}" for field, quantity in by_system.columns])
    columns = [f"{name}_{field}" for name in QUANTITIES for field in ("value", "low", "high", "sides")]
    frame = by_system.reindex(columns=columns)
    frame = frame.sort_values(f"{SECONDS}_value", ascending=False, kind="stable").reset_index()
    has_opened = bool(frame[f"{OPENED_SHARE}_value"].notna().any())
    opened = (
        ("Opened one", percent, f"{OPENED_SHARE}_value"),
        (f"{LEVEL} interval", _of_known(percent_interval), *_numbers(OPENED_SHARE)),
        ("Opened a side", decimal, f"{OPENED_NUMBER}_value"),
        (f"{LEVEL} interval", _of_known(decimal_interval), *_numbers(OPENED_NUMBER)),
        ("Sides with any", quantity, f"{OPENED_SHARE}_sides"),
    )
    note = "Seconds: how long a side was on the screen of a judgment, visible and in focus, on average; a second with several texts on the screen is shared by their words."
    if has_opened:
        note += (
            " Opened one: sides on which a link was opened (to the source of an answer, the second layer of a summary), of those that have any; opened a side: how many"
            " of them, on average."
        )
    return Section(
        key=key,
        title=_title(frame, task, alone=alone),
        short="Reading" if alone else f"Reading, {task}",
        paragraphs=(NOT_PREFERENCE,),
        tables=(
            to_table(
                key,
                f"What people read and opened in task {task}",
                frame,
                (
                    ("System", str, "system"),
                    ("Seconds", quantity, f"{SECONDS}_value"),
                    (f"{LEVEL} interval", _of_known(_seconds_interval), *_numbers(SECONDS)),
                    ("Sides", quantity, f"{SECONDS}_sides"),
                    *(opened if has_opened else ()),
                ),
                note=f"{note} Intervals are over topics and people; repeats and workers who were left out do not count. More digits: reading.csv.",
                for_papers=True,
            ),
        ),
    )


def _numbers(quantity_name: str) -> tuple[str, str, str]:
    return f"{quantity_name}_value", f"{quantity_name}_low", f"{quantity_name}_high"


def _of_known(interval: Callable[[float, float], str]) -> Callable[[float, float, float], str]:
    """Return a function that writes the interval of a value, a dash where there is no value."""
    return lambda value, low, high: DASH if pd.isna(value) else interval(low, high)


def _seconds_interval(low: float, high: float) -> str:
    return quantity_interval(*(None if pd.isna(end) else end for end in (low, high)))


def _title(frame: pd.DataFrame, task: str, *, alone: bool) -> str:
    """Return the range of seconds and of the share that was opened, in words."""
    longest, shortest = frame.iloc[0], frame.iloc[-1]
    where = "" if alone else f"In task {task} "
    begins = "People" if alone else "people"
    title = (
        f"{where}{begins} read a side for {quantity(shortest[f'{SECONDS}_value'])} ({shortest['system']}) to"
        f" {quantity(longest[f'{SECONDS}_value'])} seconds ({longest['system']})"
    )
    opened = frame.dropna(subset=[f"{OPENED_SHARE}_value"]).sort_values(
        f"{OPENED_SHARE}_value", kind="stable"
    )
    if opened.empty:
        return title
    least, most = (opened.iloc[place] for place in (0, -1))
    share = f"{percent(most[f'{OPENED_SHARE}_value'])} of sides ({most['system']})"
    if len(opened) > 1:
        share = f"{percent(least[f'{OPENED_SHARE}_value'])} ({least['system']}) to {share}"
    return f"{title}, and opened a link on {share}"
