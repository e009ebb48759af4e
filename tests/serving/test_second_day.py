"""Texts are mended and a study is extended while a crowd is at work and several processes serve it."""

import re
import threading
import time
from collections import defaultdict
from typing import Any

import httpx
import pandas as pd
import pytest
from sqlalchemy import select

from calibration.tables.study_json import read_study
from study_app.estimate.content import read_whole_study
from study_app.export.study_export import export_study
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import create_keys
from study_app.store.database import open_database, transaction
from study_app.store.models import LoadedStudy
from study_app.store.tokens import secret_token, utc_now
from tests.serving.campaign import CampaignWorker, Told, assert_kept, end_campaign
from tests.serving.serving import serving
from tests.study_app.made_once import ready_database
from tests.study_app.prefcal_command import run_once
from tests.study_app.small_answers import answers, write_answers

WORKERS, PAIRS = 300, 8
LIMITS = {"judgments_per_pair": 200, "pairs_per_worker": PAIRS}
STEP = re.compile(r"/w/[^/]+/(.*)$")


class WatchedWorker(CampaignWorker):
    """A worker who remembers each page that a form was sent from, and waits at one of them until the study is loaded anew."""

    def __init__(self, gate: threading.Event, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.gate, self.waits_at, self.is_waiting = gate, self.random.randint(2, PAIRS), False
        self.steps: list[str] = []

    def ask(self, method: str, url: str, **content: Any) -> httpx.Response:
        """Ask, and remember the page of a form."""
        if method == "POST" and "data" in content:
            if len(self.steps) == self.waits_at:
                self.is_waiting = True
                self.gate.wait()
            self.steps.append(STEP.search(url)[1])
        return super().ask(method, url, **content)


def sent_back(steps: list[str]) -> bool:
    """Say whether a worker saw a page again after its answer, or an earlier one, or more after the last."""
    pairs = [tuple(map(int, re.findall(r"\d+", step))) for step in steps if "/pair/" in step]
    return pairs != sorted(set(pairs)) or steps[0] != "consent" or steps[-1] != "finish"


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_study_is_mended_and_extended_while_300_are_in_it(kind, tmp_path, request):
    """No answer is lost, nobody is sent back or asked for more, both versions are in the export."""
    url = request.getfixturevalue({"sqlite": "sqlite_in", "postgresql": "postgres_in"}[kind])(tmp_path)
    database, texts = ready_database(url), answers(10)
    with transaction(database, write=True) as session:
        create_keys(session, new_token=secret_token)
        load_study(session, read_whole_study(write_answers(tmp_path, texts, **LIMITS)), now=utc_now())
    database.engine.dispose()
    told, gates = Told(), (threading.Event(), threading.Event())
    with serving(url, "--processes", "2") as server:
        crowd = [
            WatchedWorker(gates[number % 2], server.address, "small", f"w{number:04d}", told)
            for number in range(WORKERS)
        ]
        for worker in crowd:
            worker.start()
        deadline = time.monotonic() + 600
        while not all(worker.is_waiting for worker in crowd) and time.monotonic() < deadline:
            time.sleep(0.1)
        in_study, before = sum(worker.is_waiting for worker in crowd), len(told.choices)
        grown = answers(30, "abcd")
        for number in range(1, 11):
            grown["sysa"][f"T{number}"] = f"A mended answer of a to {number}."
        path = write_answers(tmp_path, grown, questions={"T1": "What of T1?"}, **LIMITS)
        accepted = [part for number in range(1, 11) for part in ("--accept-text", f"answers/T{number}")]
        begun = time.monotonic()
        gates[0].set()  # half of them go on while it is loaded, and half after it
        loaded = run_once("study", "load", path, "--database", url, *accepted)
        seconds = time.monotonic() - begun
        gates[1].set()
        assert loaded.code == 0, loaded.err
        end_campaign(crowd)
    assert [worker.name for worker in crowd if sent_back(worker.steps)] == []
    assert {len(worker.steps) for worker in crowd} == {1 + PAIRS + 1}
    assert len(told.codes) == WORKERS
    assert_kept(url, told, limit=10**6)
    database = open_database(url)
    with transaction(database, write=False) as session:
        study = session.scalars(select(LoadedStudy)).one()
        export_study(session, study, tmp_path / "tables", now=utc_now())
    database.engine.dispose()
    preferences, record = (
        pd.read_csv(tmp_path / "tables" / "preferences.csv"),
        read_study(tmp_path / "tables"),
    )
    assert len(preferences) == len(told.choices) == WORKERS * PAIRS
    versions = preferences["text_version"].value_counts().to_dict()
    assert min(versions[1], versions[2]) > 0
    assert len(record.mended_texts) == 11
    new = preferences[preferences["topic"].str[1:].astype(int) > 10]
    with_d = preferences[(preferences[["system_left", "system_right"]] == "sysd").any(axis=1)]
    by_pair: dict[str, int] = defaultdict(int, preferences["pair"].value_counts().to_dict())
    print(
        f"{kind}: {in_study} of {WORKERS} in the study and {before} answers when it was loaded in {seconds:.1f} s; "
        f"{len(preferences)} answers, text versions {versions}, {len(new)} of new topics, {len(with_d)} of the new system, "
        f"a pair {min(by_pair.values())} to {max(by_pair.values())}; nobody sent back"
    )
    assert len(new) > 0
    assert len(with_d) > 0
