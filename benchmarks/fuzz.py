"""Fuzzing of files and requests: accepted, or refused in plain words.

    python benchmarks/fuzz.py [--seed 1] [--share 1.0] [--processes 2] [--only TARGET] [--first INDEX]

Takes valid inputs of each kind, breaks them at random, and hands them to what reads them: study files, collections, runs, answers with
their sources and pairs, tables of all kinds, study.json, user models, what `rank` and `correlate` read, platforms' lists that
are uploaded to the console, its jobs on what broken requests have left, and on both databases event batches and requests of any address with any form. A file must end as accepted or
with a fault in plain words, a request below 500; whatever else, or a process that dies, or more than `SLOW_SECONDS`, is a finding. An
input depends on seed, target and index only: `--only TARGET --first INDEX --share 0` makes a finding again and shows its trace. (A
request also meets what the ones before it did: begin earlier, with a larger share.) docs/security.md quotes the table.
"""

import argparse
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.fuzz_inputs import MODEL, STUDY_JSON, broken
from benchmarks.fuzz_served import Served, Try, batches, lists, requests, results
from calibration.tables.files import read_tables
from calibration.tables.study_json import read_study
from calibration.tables.tables import TABLES
from calibration.user_model.model import read_user_model
from metrics.errors import PrefcalError
from study_app.cli import cli
from study_app.estimate.content import read_study_content, read_whole_study
from study_app.study.file import read_study_file
from study_app.tasks.kinds import KINDS
from tests.postgres_server import PostgresServer, postgres_server
from tests.study_app.every_task import every_task, write_every_task

SLOW_SECONDS = 10
"""Of processor time, so that a busy machine finds nothing."""

HANGING_SECONDS = 120
MAX_SHOWN = 10


@dataclass(frozen=True)
class Target:
    """Target of an attack: number of inputs, and how one is made and tried."""

    name: str
    inputs: int
    prepare: Callable[[Path], Try]


def of_files(files: list[Path], read: Callable[[Path], object]) -> Try:
    """Break one of some files, read it or what names it, and mend it again."""
    whole = {path: path.read_bytes() for path in files}
    for path in files:
        read(path)  # unbroken they must be accepted, or nothing is shown

    def attempt(rng: random.Random) -> str:
        path = rng.choice(files)
        path.write_bytes(broken(whole[path], rng))
        try:
            read(path)
        except (PrefcalError, click.ClickException):
            return "refused"
        else:
            return "accepted"
        finally:
            path.write_bytes(whole[path])

    return attempt


def study_files(folder: Path) -> Try:
    return of_files([write_every_task(folder)], lambda path: read_study_file(path, KINDS))


def named_files(folder: Path, part: str) -> Try:
    """Break a file that a task names under ``part``: collection or systems."""
    studies, owner = [], {}
    for kind, task in every_task().items():
        if part in task:
            (folder / kind).mkdir()
            study = read_study_file(write_every_task(folder / kind, tasks={kind: {}}), KINDS)
            studies.append(study)
            [entry] = study.entry.tasks
            named: Any = getattr(entry, part)
            paths = named if isinstance(named, dict) else named.model_dump(exclude_none=True)
            owner |= {folder / kind / path: study for path in paths.values() if isinstance(path, str)}
    return of_files(sorted(owner), lambda path: read_study_content(owner[path]))


def tables(folder: Path) -> Try:
    """Break a table of three rows with every column, or the study.json beside them."""
    for name, table in TABLES.items():
        rows = [",".join(column.name for column in table.columns)]
        rows += [",".join(cell(column, row) for column in table.columns) for row in range(3)]
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    (folder / "study.json").write_text(json.dumps(STUDY_JSON))

    def read(path: Path) -> None:
        if path.suffix == ".json":
            read_study(folder)
        else:
            (folder / "one").mkdir(exist_ok=True)
            path.rename(folder / "one" / path.name)
            try:
                read_tables(folder / "one")
            finally:
                (folder / "one" / path.name).rename(path)

    return of_files(sorted(path for path in folder.iterdir()), read)


def cell(column: Any, row: int) -> str:
    """Return a value that a column may hold."""
    if column.choices:
        return str(column.choices[0])
    special = {"system_right": "other", "validation_of": "", "probability": "1"}
    if column.name in special:
        return special[column.name]
    texts = {
        "flag": "true",
        "time": f"2026-03-01T1{row}:00:00.000Z",
        "number": "0.5",
        "integer": str(row + 1),
    }
    return texts.get(column.kind, f"v{row}")


def answers(folder: Path) -> Try:
    """Break questions, answers with their sources, or the pairs of systems of a study of answers."""
    source = {"label": "1", "title": "A book", "text": "It says so.", "url": "https://example.org"}
    said = [{"topic": name, "text": "So it is [1].", "citations": [source]} for name in ("Q1", "Q2")]
    track = {
        "metadata": {"topic_id": "Q1"},
        "references": ["d1", "d2"],
        "documents": {"d1": {"title": "A book", "text": "It says so."}},
        "answer": [{"text": "It is.", "citations": [0, 1]}, {"text": "So.", "citations": []}],
    }
    texts = {
        "topics.tsv": "Q1\tWhat is a tram?\nQ2\tWhat is a ferry?\n",
        "a.jsonl": "".join(json.dumps(one) + "\n" for one in said),
        "b.tsv": "Q1\tA **vehicle**.\nQ2\t- A ship\n",
        "c.jsonl": json.dumps(said[0]) + "\n",
        "d.jsonl": json.dumps(track) + "\n",
        "pairs.txt": "Q1 a b\nQ2 a b\nQ1 b c\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    task = {
        "kind": "answer_pairs",
        "collection": {"topics": "topics.tsv"},
        "systems": {"a": "a.jsonl", "b": "b.tsv", "c": "c.jsonl", "d": "d.jsonl"},
        "pairs": "pairs.txt",
    }
    study = {"study": "said", "title": "Said", "consent": "Please.", "tasks": [task]}
    (folder / "study.yaml").write_text(json.dumps(study))
    return of_files([folder / name for name in texts], lambda _: read_whole_study(folder / "study.yaml"))


def typed(*words: object) -> None:
    """Run a command as if it had been typed, without what it says."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        cli.main([str(word) for word in words], prog_name="prefcal", standalone_mode=False)


def duels(folder: Path) -> Try:
    """Break the preferences that `prefcal rank` reads."""
    header = "worker,task,kind,topic,pair,system_left,system_right,choice"
    rng, rows = random.Random(1), [header]
    for number in range(48):
        left, right = rng.sample("abc", 2)
        choice = rng.choice(["left", "right", "equally_good", "equally_bad"])
        topic = f"T{number % 6}"
        rows.append(
            f"w{number % 8},t,summary_pairs,{topic},{min(left, right)}-{max(left, right)},{left},{right},{choice}"
        )
    (folder / "preferences.csv").write_text("\n".join(rows) + "\n")
    return of_files([folder / "preferences.csv"], lambda path: typed("rank", path.parent))


def score_tables(folder: Path) -> Try:
    """Break the tables of scores that `prefcal correlate` reads: wide, by topic, and long."""
    texts = {
        "wide.csv": "run,a,b\n" + "".join(f"r{n},{n / 7},{n % 3}\n" for n in range(11)),
        "topics.csv": "run,topic,a,b\n"
        + "".join(f"r{n},t{t},{n * t},{n + t}\n" for n in range(4) for t in range(4)),
        "long.csv": "run,topic,metric,value\n"
        + "".join(f"r{n},all,{m},{n / 3}\n" for n in range(5) for m in "ab"),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return of_files([folder / name for name in texts], lambda path: typed("correlate", path))


def logs(folder: Path) -> Try:
    """Break the preferences and visits of other tools, with times in several forms, that are imported and then checked."""
    preferences = "q,w,a,b,best,t0,t1,rt\n" + "".join(
        f"q{n % 3},w{n % 4},x,y,{'xy'[n % 2]},2026-10-2{4 + n % 3} 0{3 + n % 5}:30:00,,{n or 'NA'}\n"
        for n in range(8)
    )
    visits = "w,q,s,e,why\n" + "".join(
        f"w{n % 2},q,2026-03-0{n + 1}T09:00:00+01:00,2026-03-0{n + 1}T09:00:40+01:00,left\n" for n in range(6)
    )
    epochs = "w,q,s,len\n" + "".join(f"w{n % 2},q,{1772355600 + 9000 * n},{40 + n}\n" for n in range(6))
    names = ("--topic", "q", "--worker", "w")
    commands = {
        "preferences.csv": (
            "import",
            *names,
            "--left",
            "a",
            "--right",
            "b",
            "--choice",
            "best",
            "--shown-at",
            "t0",
            "--seconds",
            "rt",
            "--time-zone",
            "Europe/Berlin",
        ),
        "visits.csv": ("import-visits", *names, "--start", "s", "--end", "e", "--end-reason", "why"),
        "epochs.csv": ("import-visits", *names, "--start", "s", "--seconds", "len"),
    }
    for name, text in zip(commands, (preferences, visits, epochs), strict=True):
        (folder / name).write_text(text)

    def read(path: Path) -> None:
        command, *options = commands[path.name]
        tables = folder / path.stem
        typed(command, path, *options, "-o", tables)
        typed("check", tables)

    return of_files([folder / name for name in commands], read)


def printed_scores(folder: Path) -> Try:
    """Break what evaluation tools print, which `prefcal convert trec-to-scores` reads."""
    texts = {
        "trec.eval": "num_q                 \tall\t2\nmap                   \t1\t0.25\nmap                   \tall\t0.5\nrelstring\t1\t'1'\n",
        "measures.txt": "1\tnDCG@10\t0.25\n2\tnDCG@10\t0.5\nall\tnDCG@10\t0.375\n",
        "pyserini.txt": "Running command: ['java']\nResults:\nmap\t1\t0.5\nmap\tall\t0.5\n",
        "tot.txt": "r1 nugget_coverage t1 0.5\nr2 nugget_coverage t1 0.25\n",
        "gdeval.csv": "runid,topic,ndcg@10,err@10\nbase,1,0.5,0.2\nbase,2,0.1,0.05\nbase,amean,0.3,0.125\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return of_files([folder / name for name in texts], lambda path: typed("convert", "trec-to-scores", path))


def user_models(folder: Path) -> Try:
    path = folder / "user-model.json"
    path.write_text(json.dumps(MODEL))
    return of_files([path], read_user_model)


TARGETS = [
    Target("study files", 6_000, study_files),
    Target("collections", 6_000, lambda folder: named_files(folder, "collection")),
    Target("runs", 6_000, lambda folder: named_files(folder, "systems")),
    Target("answers", 200, answers),
    Target("tables", 5_000, tables),
    Target("user models", 5_000, user_models),
    Target("duels", 30, duels),
    Target("score tables", 300, score_tables),
    Target("logs of other tools", 100, logs),
    Target("printed scores", 300, printed_scores),
    Target("event batches, SQLite", 6_000, lambda folder: batches(Served(folder))),
    Target("event batches, PostgreSQL", 6_000, lambda folder: batches(Served(folder, on_postgres()))),
    Target("payment lists, SQLite", 300, lambda folder: lists(Served(folder))),
    Target("console jobs, SQLite", 1, lambda folder: results(Served(folder))),
    Target("requests, SQLite", 5_000, lambda folder: requests(Served(folder))),
    Target("requests, PostgreSQL", 5_000, lambda folder: requests(Served(folder, on_postgres()))),
]
RUNNING: list[PostgresServer] = []
"""The one server of a campaign, which the processes of its targets inherit."""


def on_postgres() -> PostgresServer:
    [running] = RUNNING
    return running


def too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {SLOW_SECONDS} s of processor time, or {HANGING_SECONDS} s in all")


def attack(target: Target, seed: int, first: int, last: int, at: Any, found: Any) -> None:
    """Try the inputs of a target from ``first`` to ``last``; runs in a process of its own, which may die."""
    signal.signal(signal.SIGALRM, too_slow)
    signal.signal(signal.SIGPROF, too_slow)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="prefcal-fuzz-") as folder:
        attempt = target.prepare(Path(folder))
        for index in range(first, last + 1):
            at.value = index
            signal.setitimer(signal.ITIMER_PROF, SLOW_SECONDS)
            signal.alarm(HANGING_SECONDS)
            try:
                counts[attempt(random.Random(f"{seed} {target.name} {index}"))] += 1
            except Exception:  # noqa: BLE001 - whatever it is, it is a finding
                counts["findings"] += 1
                found.put((index, traceback.format_exc(limit=-3)))
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
    found.put(counts)


def campaign(target: Target, seed: int, first: int, last: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Attack a target; goes on behind an input that ended the process."""
    counts: Counter[str] = Counter()
    findings: list[tuple[int, str]] = []
    while first <= last:
        at, found = multiprocessing.Value("q", first - 1), multiprocessing.SimpleQueue()
        child = multiprocessing.Process(target=attack, args=(target, seed, first, last, at, found))
        child.start()
        got: Any = None
        while not isinstance(got, Counter) and (child.is_alive() or not found.empty()):
            if found.empty():
                child.join(0.05)
            else:
                got = found.get()
                if isinstance(got, tuple):
                    findings.append(got)
        child.join()
        if isinstance(got, Counter):
            return counts + got, findings
        if at.value < first:
            sys.exit(f"{target.name}: nothing could be prepared")
        counts["findings"] += 1
        findings.append((at.value, f"the process ended with {child.exitcode}"))
        first = at.value + 1
    return counts, findings


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the inputs of each target")
    parser.add_argument("--processes", type=int, default=2, help="so many targets at the same time")
    parser.add_argument("--only", choices=[target.name for target in TARGETS])
    parser.add_argument("--first", type=int, default=1, metavar="INDEX")
    options = parser.parse_args()
    chosen = [target for target in TARGETS if options.only in {None, target.name}]
    began = time.perf_counter()
    with ExitStack() as stack, ThreadPoolExecutor(options.processes) as pool:
        if any("PostgreSQL" in target.name for target in chosen):
            RUNNING.append(stack.enter_context(postgres_server()))
        rows = list(pool.map(lambda target: row_of(target, options), chosen))
    seconds = time.perf_counter() - began
    print(
        tabulate(
            rows, headers=["target", "inputs", "accepted", "refused", "findings", "seconds"], floatfmt=".0f"
        )
    )
    rate = sum(row[1] for row in rows) / seconds
    print(f"{rate:.0f} inputs a second; 1,000,000 would take {1e6 / rate / 60:.0f} minutes")
    sys.exit(1 if any(row[4] for row in rows) else 0)


def row_of(target: Target, options: argparse.Namespace) -> list[Any]:
    """Attack one target, show what was found, and return its row of the table."""
    last = max(options.first, options.first - 1 + round(target.inputs * options.share))
    began = time.perf_counter()
    counts, findings = campaign(target, options.seed, options.first, last)
    seconds = time.perf_counter() - began
    for index, trace in findings[:MAX_SHOWN]:
        print(f"{target.name} {index}: {trace}", file=sys.stderr)
    ended = (counts[how] for how in ("accepted", "refused", "findings"))
    return [target.name, last - options.first + 1, *ended, seconds]


if __name__ == "__main__":
    main()
