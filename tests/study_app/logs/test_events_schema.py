"""docs/events.schema.json is the form that the server enforces.

After a change of `study_app.logs.page_events`, `python tests/study_app/logs/test_events_schema.py` writes it anew.
"""

import json
from pathlib import Path

from study_app.logs.page_events import events_schema

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "events.schema.json"


def test_the_published_schema_is_the_form_that_is_enforced():
    """Whoever writes a client, or reads a log years later, goes by it."""
    assert SCHEMA.read_text(encoding="utf-8") == events_schema()


def test_every_field_explains_itself():
    """A log without this project's documentation must still be readable."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    forms = [schema, *schema["$defs"].values()]

    assert len(forms) == 9
    for form in forms:
        assert form["description"]
        assert form["additionalProperties"] is False
        for name, field in form["properties"].items():
            assert name == "kind" or field["description"], (form["title"], name)


if __name__ == "__main__":
    SCHEMA.write_text(events_schema(), encoding="utf-8")
