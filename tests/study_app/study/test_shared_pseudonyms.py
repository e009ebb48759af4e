"""Pseudonyms that studies share by a key: who gets which, where the key is and is not, and what is refused."""

import json
import logging
import stat

import pytest
from sqlalchemy import select

from study_app.store.models import PlatformIdentity, Worker
from study_app.store.tokens import LETTERS
from study_app.study.platforms import PLATFORMS, simulated_id
from study_app.study.shared_pseudonyms import fingerprint, shared_pseudonym
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import votes_task, write_small_study

KEY = "0123456789abcdefghijklmnopqrstuv"


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs prefcal on a study's database, by its clock."""

    def run(study, *arguments):
        monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)
        return run_here(monkeypatch, capsys, *arguments, "--database", study.url)

    return run


def with_key(study, name, key=KEY, **changes):
    """Write a study file with a key file beside it."""
    folder = study.folder / name
    folder.mkdir(exist_ok=True)
    file = write_small_study(folder, study=name, pseudonyms="shared people.key", **changes)
    (folder / "people.key").write_text(f"{key}\n")
    return file


def test_the_message_is_platform_and_id_and_the_key_is_not_told():
    """The same in every process and study; other with another key, platform or id."""
    name = shared_pseudonym(KEY, "prolific", "ann")
    others = [shared_pseudonym(*which) for which in ((KEY, "generic", "ann"), (KEY, "prolific", "bob"))]

    assert name == shared_pseudonym(KEY, "prolific", "ann")
    assert len({name, *others, shared_pseudonym(f"{KEY}x", "prolific", "ann")}) == 4
    assert len(name) == 16
    assert set(name) <= {*LETTERS, "o"}
    assert fingerprint(KEY) != fingerprint(f"{KEY}x")
    assert len(fingerprint(KEY)) == 16


def test_one_person_has_one_pseudonym_in_all_studies_of_a_key(campaign, command, caplog, tmp_path):
    """No export, audit, study.json, configuration or log has the key; without one, pseudonyms are drawn."""
    caplog.set_level(logging.DEBUG)
    study = campaign()
    for name, key in (("first", KEY), ("second", KEY), ("third", KEY[::-1])):
        loaded = command(study, "study", "load", with_key(study, name, key))
        assert loaded.code == 0, loaded.err
    for name in ("small", "first", "second", "third"):
        study.arrive("ann", study=name).send()
        study.arrive("ann", study=name)
    names = [name for (name,) in study.rows(select(Worker.pseudonym).order_by(Worker.study_id))]
    assert names[1] == names[2] == shared_pseudonym(KEY, "generic", "ann")
    assert len(set(names)) == 3
    out = tmp_path / "tables"
    exported = [
        command(study, "export", out / name, "--study", name) for name in ("small", "first", "second")
    ]
    assert [each.code for each in exported] == [0, 0, 0]
    records = [json.loads((out / name / "study.json").read_text()) for name in ("small", "first", "second")]
    assert [record.get("pseudonyms") for record in records] == [None, fingerprint(KEY), fingerprint(KEY)]
    rows = study.everything()
    assert {table for table, lines in rows.items() if KEY in str(lines)} == {"setting"}
    written = "".join(path.read_text() for path in out.rglob("*.*"))
    assert KEY not in written + caplog.text + str(exported) + str(names)


def test_who_comes_back_after_the_deletion_is_the_same_person_and_deletion_says_so(campaign, command):
    """The pseudonym tells who it is; the second identity belongs to the first worker, with the consent given."""
    study = campaign()
    assert command(study, "study", "load", with_key(study, "first")).code == 0
    study.arrive("ann", study="first").send()
    code = study.rows(select(Worker.withdrawal_code))[0][0]
    deleted = command(study, "retention", "first", "--all-identities", "--delete")
    assert "can still compute the pseudonym" in deleted.err
    assert study.rows(select(PlatformIdentity)) == []
    assert command(study, "study", "pause", "first").code == 0
    assert study.arrive("bob", study="first").status == 503

    back = study.arrive("ann", study="first")

    assert back.step != "consent"
    assert len(study.rows(select(Worker))) == len(study.rows(select(PlatformIdentity))) == 1
    left = command(study, "withdraw", code)
    assert "other studies with this key know a person by the same pseudonym" in left.err
    assert study.arrive("ann", study="first").step == "withdrawn"


def test_the_key_is_deleted_on_request_and_then_nobody_new_is_let_in(campaign, command):
    """Who is known by their id goes on; loading the study again brings the key back, and with it people as they were."""
    study = campaign()
    file = with_key(study, "first")
    assert command(study, "study", "load", file).code == 0
    for name in ("ann", "bob"):
        study.arrive(name, study="first").send()
    assert (
        "would delete: 1 of key of shared pseudonyms"
        in command(study, "retention", "first", "--shared-key").out
    )
    assert KEY in str(study.everything())

    deleted = command(study, "retention", "first", "--shared-key", "--delete")

    assert "deleted: 1 of key of shared pseudonyms" in deleted.out
    assert "nobody new is let in until the study is loaded again" in deleted.err
    assert KEY not in str(study.everything())
    assert study.arrive("ann", study="first").step != "consent"
    assert study.arrive("cleo", study="first").status == 503
    assert command(study, "retention", "first", "--all-identities", "--delete").code == 0
    assert study.arrive("ann", study="first").status == 503
    assert command(study, "study", "load", file).code == 0
    assert study.arrive("ann", study="first").step != "consent"
    assert study.arrive("cleo", study="first").step == "consent"
    assert len(study.rows(select(Worker))) == 3


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("short", "the key has 5 characters, fewer than 32"),
        ("a" * 40, "the key has 1 different characters, fewer than 12"),
        ("two words " * 5, "this is no key"),
        (f"{KEY}\n{KEY}", "this is no key"),
        ("x" * 2_000, "the key has 2,000 characters"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_key_is_refused_without_being_shown(campaign, command, content, problem):
    """At the line of the setting, whichever file it names, the study file itself too; nothing is loaded."""
    study = campaign()
    file = with_key(study, "first", content or KEY)
    if content is None:
        (file.parent / "people.key").unlink()

    refused = command(study, "study", "load", file)

    assert refused.code == 1
    line = 1 + file.read_text().splitlines().index("pseudonyms: shared people.key")
    assert f"study.yaml:{line}: pseudonyms: people.key: {problem}" in refused.err
    assert content is None or content not in refused.err
    assert len(refused.err.splitlines()) == 1


def test_the_key_stays_once_somebody_came_and_its_file_may_move(campaign, command):
    """Another key would make a second person of everybody; until the first worker it may change."""
    study = campaign()
    assert command(study, "study", "load", with_key(study, "first", KEY[::-1])).code == 0
    assert command(study, "study", "load", with_key(study, "first")).code == 0
    study.arrive("ann", study="first")
    (study.folder / "first" / "people.key").rename(study.folder / "first" / "moved.key")
    file = study.folder / "first" / "study.yaml"
    file.write_text(file.read_text().replace("people.key", "moved.key"))
    assert command(study, "study", "load", file).code == 0
    assert study.rows(select(Worker.pseudonym))[0][0] == shared_pseudonym(KEY, "generic", "ann")

    for with_another in (True, False):
        folder = study.folder / "first"
        file = (
            with_key(study, "first", KEY[::-1]) if with_another else write_small_study(folder, study="first")
        )
        refused = command(study, "study", "load", file)
        assert (refused.code, "pseudonyms" in refused.err) == (1, True)


def test_a_rehearsal_knows_people_by_the_key_and_the_study_can_be_loaded_after_it(campaign, command):
    """As the waves will; its workers stay known as simulated."""
    study = campaign()
    files = [with_key(study, name, tasks=[votes_task()]) for name in ("first", "second")]
    for file in files:
        ended = command(study, "simulate", file, "--workers", "2")
        assert ended.code == 0, ended.err
    names = [name for (name,) in study.rows(select(Worker.pseudonym).order_by(Worker.study_id, Worker.id))]
    known = {shared_pseudonym(KEY, "generic", simulated_id(PLATFORMS["generic"], n)) for n in range(1, 3)}
    assert {*names[:2]} == {*names[2:]} == known
    again = command(study, "study", "load", files[0])
    assert (again.code, again.out) == (0, "first is loaded already; nothing changed\n")
    assert "the workers of first in this database are simulated" in again.err
    (files[1].parent / "people.key").unlink()
    refused = command(study, "simulate", files[1], "--workers", "1")
    assert (refused.code, "pseudonyms: people.key: cannot be read" in refused.err) == (1, True)


@pytest.mark.parametrize("given", ["people.key", "shared", "shared  ", ["0" * 16, "1" * 16], 7])
def test_another_value_of_pseudonyms_is_refused(campaign, command, given):
    """With its line and the cure."""
    study = campaign()
    file = write_small_study(study.folder, pseudonyms=given)
    refused = command(study, "study", "load", file)
    assert refused.code == 1
    assert "pseudonyms" in refused.err
    assert "shared KEYFILE" in refused.err


def test_a_new_key_is_for_its_owner_alone_and_never_replaces_one(monkeypatch, capsys, tmp_path):
    """The command prints what to write into the study file, and not the key."""
    file = tmp_path / "people.key"
    made = run_here(monkeypatch, capsys, "study", "shared-key", file)
    key = file.read_text().strip()
    assert made.code == 0
    assert "pseudonyms: shared people.key" in made.out
    assert key not in made.out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(key) == 64
    again = run_here(monkeypatch, capsys, "study", "shared-key", file)
    assert (again.code, file.read_text().strip()) == (1, key)
    nowhere = run_here(monkeypatch, capsys, "study", "shared-key", tmp_path / "no" / "people.key")
    assert (nowhere.code, len(nowhere.err.splitlines())) == (1, 1)
