"""Server time of a pair page, by kind of task, in turn.

Pairs of summaries, of plain lists, and of answers, submission by submission; and of answers with graded choices, three criteria and a reason.

    python benchmarks/pair_kinds.py [--workers 100] [--blocks 6] [--seconds 45]

The four studies have the same seven systems with the same sentences on every side, one query, and all 21 pairs for each worker. In each round one
worker goes through each study in this process, without a network; the studies take turns at every submission, so that a machine that is slow for
a while is slow for all. What is measured is the processor's time from the form of a pair to the page of the next (POST, redirect, GET), with a
SQLite file in a folder that is thrown away. A round counts as a whole, since some submissions of a round cost more than others: its ratio is that of the
sums of its 21 submissions. Printed are the median of these ratios and its 95 % interval (bootstrap of the rounds). The first round warms up and is
left out. The last line is graded answers beside plain ones: its inverse is that of the submissions a second. benchmarks/README.md has the figures.
"""

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from flask.testing import FlaskClient

from study_app import create_app
from study_app.config import Config
from study_app.estimate.content import read_whole_study
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import create_keys
from study_app.store.database import migrate, open_database, transaction
from study_app.store.tokens import secret_token, utc_now

SYSTEMS = 7
PAIRS = SYSTEMS * (SYSTEMS - 1) // 2
AGENT = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0"}
HIDDEN = re.compile(r'name="page" value="([^"]+)"')
HEAD = """study: {name}
title: Which is better?
consent: This is a measurement. Nobody reads these pages.
platform: generic
seed: 1
tasks:
  - name: pairs
    kind: {kind}
    validation_pairs: 0
    min_consistency: 0
"""


def name_of(kind: str) -> str:
    """Return the name of a kind's study."""
    return kind.replace("_", "-").replace(", ", "-")


def sentence(system: int, block: int) -> str:
    """Return the text of a block of a side, 120 characters."""
    return f"Fact {block} as system {system} words it. ".ljust(120, "x")


def summaries(folder: Path, blocks: int) -> str:
    """Write the files of pairs of summaries; return what the study file says of them."""
    lines = [f"q1\tu{s}.{b}\t{sentence(s, b)}\n" for s in range(SYSTEMS) for b in range(blocks)]
    (folder / "iunits.tsv").write_text("".join(lines), encoding="utf-8")
    (folder / "intents.tsv").write_text("q1\ti1\tall of it\n", encoding="utf-8")
    (folder / "queries.tsv").write_text("q1\twhat there is\n", encoding="utf-8")
    for s in range(SYSTEMS):
        iunits = "".join(f'<iunit uid="u{s}.{b}"/>' for b in range(blocks))
        run = f'<results><sysdesc>s</sysdesc><result qid="q1"><first>{iunits}</first></result></results>'
        (folder / f"s{s}.xml").write_text(run, encoding="utf-8")
    return (
        "    collection: {queries: queries.tsv, iunits: iunits.tsv, intents: intents.tsv}\n"
        "    search_seconds: 0\n    min_search_seconds: 0\n    workers_per_query: null\n" + systems("xml")
    )


def lists(folder: Path, blocks: int) -> str:
    """Write the files of pairs of plain lists."""
    texts = [f"d{s}.{b}\t{sentence(s, b)}\n" for s in range(SYSTEMS) for b in range(blocks)]
    (folder / "texts.tsv").write_text("".join(texts), encoding="utf-8")
    (folder / "topics.tsv").write_text("q1\twhat there is\n", encoding="utf-8")
    for s in range(SYSTEMS):
        run = "".join(f"q1 Q0 d{s}.{b} {b + 1} {blocks - b} s{s}\n" for b in range(blocks))
        (folder / f"s{s}.txt").write_text(run, encoding="utf-8")
    return (
        "    collection: {topics: topics.tsv, texts: texts.tsv}\n"
        f"    depth: {blocks}\n    judgments_per_pair: null\n" + systems("txt")
    )


def answers(folder: Path, blocks: int) -> str:
    """Write the files of pairs of answers."""
    (folder / "topics.tsv").write_text("q1\twhat there is\n", encoding="utf-8")
    for s in range(SYSTEMS):
        text = "\\n\\n".join(sentence(s, b) for b in range(blocks))
        (folder / f"s{s}.jsonl").write_text(f'{{"topic": "q1", "text": "{text}"}}\n', encoding="utf-8")
    return (
        "    collection: {topics: topics.tsv}\n"
        f"    judgments_per_pair: null\n    pairs_per_worker: {PAIRS}\n" + systems("jsonl")
    )


def systems(suffix: str) -> str:
    """Return the lines of the study file that name the systems."""
    return "    systems:\n" + "".join(f"      s{s}: s{s}.{suffix}\n" for s in range(SYSTEMS))


CRITERIA = ("correct", "complete", "short")


def graded_answers(folder: Path, blocks: int) -> str:
    """Write the files of pairs of answers, with graded choices, three criteria and a reason."""
    asked = "".join(f'      - {{name: {name}, text: "Which answer is more {name}?"}}\n' for name in CRITERIA)
    return answers(folder, blocks) + f"    choices: graded5\n    reason: optional\n    criteria:\n{asked}"


GRADED = "answer_pairs, graded"
KINDS: dict[str, Callable[[Path, int], str]] = {
    "summary_pairs": summaries,
    "ranked_pairs": lists,
    "answer_pairs": answers,
    GRADED: graded_answers,
}
PLAIN_FIELDS = {"choice": "left"}
GRADED_FIELDS = {
    "choice": "left_2",
    **{f"criterion-{number}": "right_1" for number in range(1, len(CRITERIA) + 1)},
    "reason": "It says more, and it says sooner what I wanted to know.",
}


@dataclass
class Clock:
    """The servers' clock: it stands still but for the ``seconds`` that a worker looks at a pair."""

    seconds: float
    now: datetime = field(default_factory=utc_now)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def forward(self) -> None:
        """Let a worker look at a pair."""
        self.now += timedelta(seconds=self.seconds)


@dataclass
class Study:
    """One kind's study on its own server."""

    kind: str
    client: FlaskClient
    clock: Clock

    def walk(self, worker: int) -> Iterator[float]:
        """Let a worker go through it; yield the seconds of processor of each submission."""
        page = self.client.get(f"/s/{name_of(self.kind)}?id=w{worker}", headers=AGENT, follow_redirects=True)
        page = self.sent(page.request.path, page.text, agree="yes")
        if page.request.path.endswith("choose"):
            page = self.sent(page.request.path, page.text, topic="1")
        fields = GRADED_FIELDS if self.kind == GRADED else PLAIN_FIELDS
        for _ in range(PAIRS):
            self.clock.forward()
            begun = time.process_time()
            page = self.sent(page.request.path, page.text, **fields)
            yield time.process_time() - begun
            if page.status_code != 200:
                raise SystemExit(f"{self.kind}: {page.status} at {page.request.path}")
        if not page.request.path.endswith("finish"):
            raise SystemExit(f"{self.kind}: {PAIRS} pairs do not lead to the end, but to {page.request.path}")
        self.sent(page.request.path, page.text)

    def sent(self, path: str, shown: str, **fields: str):  # noqa: ANN201 - werkzeug's class for tests
        """Post the form of a page and load what follows."""
        form = {"page": HIDDEN.findall(shown)[0], **fields}
        return self.client.post(path, data=form, headers=AGENT, follow_redirects=True)


def served(folder: Path, kind: str, blocks: int, seconds: float) -> Study:
    """Write, load and serve a kind's study."""
    folder.mkdir()
    (folder / "study.yaml").write_text(
        HEAD.format(name=name_of(kind), kind=kind.partition(",")[0]) + KINDS[kind](folder, blocks),
        encoding="utf-8",
    )
    url = f"sqlite:///{folder / 'study.sqlite3'}"
    database = open_database(url)
    migrate(database)
    with transaction(database, write=True) as session:
        create_keys(session, new_token=secret_token)
        load_study(session, read_whole_study(folder / "study.yaml"), now=utc_now())
    database.engine.dispose()
    clock = Clock(seconds)
    return Study(kind, create_app(Config(database=url), now=clock).test_client(use_cookies=False), clock)


def one_round(studies: list[Study], worker: int) -> list[float]:
    """Return the seconds of processor that each study took for all pairs of a worker; who begins changes with every pair."""
    walks = [study.walk(worker) for study in studies]
    seconds = [0.0] * len(walks)
    for pair in range(PAIRS):
        for turn in range(len(walks)):
            place = (pair + turn) % len(walks)
            seconds[place] += next(walks[place])
    for walk in walks:  # the form of the last page, which is not measured
        next(walk, None)
    return seconds


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, default=100, help="how many go through each study (100)")
    parser.add_argument("--blocks", type=int, default=6, help="sentences on a side (6)")
    parser.add_argument("--seconds", type=float, default=45, help="how long a worker looks at a pair (45)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        studies = [served(Path(name) / kind, kind, options.blocks, options.seconds) for kind in KINDS]
        rounds = np.array([one_round(studies, worker) for worker in range(options.workers + 1)])[1:]
    ratios = np.column_stack([rounds / rounds[:, :1], rounds[:, 3] / rounds[:, 2]])
    drawn = np.random.default_rng(1).integers(len(ratios), size=(2000, len(ratios)))
    low, high = np.quantile(np.median(ratios[drawn], axis=1), [0.025, 0.975], axis=0)
    print("| kind | ms of processor a submission | beside summary_pairs | 95 % |\n|---|---|---|---|")
    for place, study in enumerate(studies):
        spent, ratio = 1000 * np.median(rounds[:, place]) / PAIRS, np.median(ratios[:, place])
        print(f"| `{study.kind}` | {spent:.2f} | {ratio:.3f} | {low[place]:.3f} to {high[place]:.3f} |")
    ratio = np.median(ratios[:, -1])
    print(
        f"graded answers beside plain ones: {ratio:.3f} ({low[-1]:.3f} to {high[-1]:.3f}), so {1 / ratio:.3f} times the submissions a second"
    )


if __name__ == "__main__":
    main()
