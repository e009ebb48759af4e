"""docs/routes.json is what the server answers to, and says of each form which fields it has.

After a change of an address or a form, `python tests/study_app/web/test_routes.py` writes it anew.
"""

import re
from pathlib import Path

from study_app.web.routes import FORMS, described, routes_description

ROOT = Path(__file__).resolve().parents[3]
OF_PAIRS = {"choice", r"^criterion-[1-9][0-9]*$"}
"""Their names stand in the page's value, since all questions of a pair look alike."""
ROUTES = ROOT / "docs" / "routes.json"


def test_the_published_routes_are_those_of_the_server():
    """Whoever attacks it with a tool goes by them; so every address is there."""
    assert ROUTES.read_text(encoding="utf-8") == routes_description()


def test_every_field_of_a_form_is_one_of_a_template():
    """And every form that is posted is described."""
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "templates").rglob("*.html"))
    fields = {re.sub(r"\{\{.*?\}\}", "1", name) for name in re.findall(r'name="([^"]+)"', pages)}
    for form in FORMS.values():
        for name in form:
            matches = [field for field in fields if re.fullmatch(name.strip("^$"), field)]
            assert matches or name in {r"^q-[A-Za-z0-9][A-Za-z0-9._-]*$", *OF_PAIRS}, name
    posted = {
        operation["post"]["operationId"].replace("_", ".", 1)
        for operation in described()["paths"].values()
        if "post" in operation
    }
    assert posted - {"beside.take_events", "hooks.take_prolific_event"} == FORMS.keys()


if __name__ == "__main__":
    ROUTES.write_text(routes_description(), encoding="utf-8")
