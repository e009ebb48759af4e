"""docs/events.md says what is logged: every kind, every detail, and the numbers that the scripts have."""

import re
from pathlib import Path
from typing import get_args

import pytest

from study_app.logs import page_events
from study_app.logs.page_events import PageEvent

ROOT = Path(__file__).resolve().parents[3]
DOCS = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
SCRIPTS = ROOT / "study_app" / "static" / "js"
EVENTS = get_args(get_args(page_events.AnyEvent)[0])


def kinds(event: type[PageEvent]) -> tuple[str, ...]:
    return get_args(event.model_fields["kind"].annotation)


def row(kind: str) -> tuple[str, str]:
    """Return the cells kind and detail of a kind's row in the table of kinds."""
    (line,) = (
        line for line in DOCS.splitlines() if line.startswith("| `") and f"`{kind}`" in line.split("|")[1]
    )
    return line.split("|")[1], line.split("|")[2]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_every_kind_is_documented_with_its_detail(event: type[PageEvent]) -> None:
    """What the server takes is what the table says, and nothing else."""
    own = set(event.model_fields) - set(PageEvent.model_fields)
    for kind in kinds(event):
        assert set(re.findall(r"`(\w+)`", row(kind)[1])) == own


def test_every_kind_of_the_table_exists() -> None:
    """No row is left over from an earlier version."""
    table = DOCS.split("## Kinds of events")[1].split("\n\n`side`")[0]
    named = re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    assert sorted(named) == sorted(kind for event in EVENTS for kind in kinds(event))


def test_every_script_has_its_job_in_the_documentation() -> None:
    """A script that is not there is not to be found; those of the console log nothing."""
    named = set(re.findall(r"`([\w-]+\.js)`", DOCS.split("## The scripts")[1]))
    assert named == {path.name for path in SCRIPTS.glob("*.js") if not path.name.startswith("console_")}
