"""The console's page of files: differences, texts to accept, and loads of a running study."""

import re

import pytest

from tests.study_app.conftest import Campaign
from tests.study_app.small_answers import answers, write_answers


@pytest.fixture
def study(tmp_path, sqlite_in):
    """Serve a study of answers that somebody has begun."""
    made = Campaign(tmp_path, sqlite_in(tmp_path))
    made.load_file(write_answers(tmp_path, answers(2)))
    made.serve().arrive("ann").send().send(choice="left")
    yield made
    made.database.engine.dispose()


def sent(html: str, **fields: object) -> dict[str, object]:
    """Return the hidden fields of the form that loads, with others."""
    form = html[html.index("files/load") :]
    return {name: value for name, value in re.findall(r'name="(csrf|seen)" value="([^"]*)"', form)} | fields  # noqa: C416


def test_a_text_is_mended_and_a_study_extended_from_the_console(study, tmp_path):
    """The page names what differs; each topic has its box; only what was looked at is loaded, and it stands in the audit."""
    console = study.console()
    assert "Compare the files" in console.get("/r/small/files").text
    texts = answers(3)
    texts["sysa"]["T1"] = "Mended."
    write_answers(tmp_path, texts)
    compared = console.get("/r/small/files?compare=1").text
    assert "<strong>answers/T1</strong><br>system sysa: Answer a to 1. -&gt; Mended." in compared
    assert "answers: 1 new topic (3 pairs): T3" in compared
    before = study.everything()
    unaccepted = console.post("/r/small/files/load", data=sent(compared))
    assert unaccepted.status_code == 422
    assert "workers have judged another text" in unaccepted.text
    texts["sysb"]["T2"] = "Also mended."
    write_answers(tmp_path, texts)
    stale = console.post("/r/small/files/load", data=sent(compared, accept=["answers/T1"]))
    assert stale.status_code == 409
    assert {name for name, rows in study.everything().items() if rows != before[name]} <= {
        "audit_entry",
        "audit",
    }
    compared = console.get("/r/small/files?compare=1").text
    done = console.post(
        "/r/small/files/load", data=sent(compared, accept=["answers/T1", "answers/T2"]), follow_redirects=True
    )
    assert "Done: load" in done.text
    assert "<strong>text</strong> answers/T2, system sysb: Answer b to 2. -&gt; Also mended." in done.text
    assert "Also mended." in console.get("/r/small/audit").text
    assert "None: the files are as they are loaded." in console.get("/r/small/files?compare=1").text


def test_files_that_must_not_be_loaded_have_no_button(study, tmp_path):
    """What is refused is named; a file that is gone, and one of another study, too."""
    console = study.console()
    path = write_answers(tmp_path, answers(1))
    compared = console.get("/r/small/files?compare=1").text
    assert "answers: topic T2 vanishes, which would corrupt answers already given" in compared
    assert "Load them" not in compared
    assert console.post("/r/small/files/load", data=sent(compared)).status_code == 422
    path.write_text(path.read_text().replace("study: small", "study: other"))
    assert "the file is of study other now" in console.get("/r/small/files?compare=1").text
    path.unlink()
    gone = console.get("/r/small/files?compare=1")
    assert gone.status_code == 422
    assert "study.yaml" in gone.text
