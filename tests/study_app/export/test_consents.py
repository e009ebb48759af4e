"""Consent texts travel with the data: what somebody agreed to can be shown years later."""

import hashlib

from study_app.export import export_study
from study_app.services.researcher.studies import chosen_study
from study_app.store.database import transaction
from tests.study_app.small_study import votes_task


def export(study, folder):
    with transaction(study.database, write=False) as session:
        export_study(session, chosen_study(session, None), folder, now=study.clock())


def texts(folder):
    return {path.stem: path.read_bytes() for path in (folder / "consent").iterdir()}


def test_every_text_that_somebody_agreed_to_is_exported_under_its_hash(campaign, tmp_path):
    """Not the one that nobody agreed to; an export again replaces them."""
    study = campaign(tasks=[votes_task()], consent="First text, 5 minutes.")
    study.arrive("ann").send()
    study.load(tasks=[votes_task()], consent="Nobody's text.")
    study.arrive("bob")
    study.load(tasks=[votes_task()], consent="Third text, 5 minutes: 同意.")
    study.arrive("cleo").send()
    for _ in range(2):
        export(study, tmp_path / "tables")
        found = texts(tmp_path / "tables")
        assert sorted(found.values()) == [b"First text, 5 minutes.", "Third text, 5 minutes: 同意.".encode()]
        for digest, text in found.items():
            assert hashlib.sha256(text).hexdigest() == digest
