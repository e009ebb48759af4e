"""Values of a literal implementation of every formula and reading: all of them from Python, and from the command line.

`gold/tia` says how they were made: no author code exists; the implementation has hand-worked values, equals the plain
measures where there is one window, and equals ndeval where the definitions coincide. Tolerance 1e-9.
"""

import csv
import io
import json
import re

import pytest

from metrics.ranked.lists import RankedCollection, RankedRun
from metrics.ranked.measures import IAERR, IANDCG, IAP, TIAAP, TIAERR, TIANDCG, TIAP
from metrics.ranked.recall import SBR, TIASBR, TSBR
from metrics.ranked.score import ranked_scores
from tests.study_app.prefcal_command import run_here

CLASSES = {
    "IA-P": IAP,
    "TIA-P": TIAP,
    "IA-NDCG": IANDCG,
    "TIA-NDCG": TIANDCG,
    "IA-ERR": IAERR,
    "TIA-ERR": TIAERR,
    "TIA-AP": TIAAP,
    "SBR": SBR,
    "T-SBR": TSBR,
    "TIA-SBR": TIASBR,
}
CASES = range(10)
DEPTHS = (1, 3, 5, 10, 20)
OPTIONS = [
    {},
    {"err": "half", "gains": "graded", "covered": "any", "alpha": 0.8, "reading": "text"},
    {"err": "graded", "alpha": 0},
    {"err": "graded", "covered": "any", "alpha": 1, "reading": "text"},
    {"err": "half", "gains": "graded", "alpha": 0.8},
    {"covered": "any", "alpha": 0.5, "reading": "text"},
    {"covered": "any", "alpha": 0},
    {"alpha": 1},
]
"""Together they need every value that the command line can express."""


@pytest.fixture(scope="module")
def cases(shared):
    return json.loads((shared / "gold/tia/cases.json").read_text(encoding="utf-8"))


def measure_named(name):
    """The measure that gold calls ``TIA-ERR-text@10[half][P(c|q,t)=counts]``, say."""
    base, reading, renorm, k, *_ = re.match(
        r"(\w+-?[A-Z]*)(?:-(text|table))?(-renorm)?(?:@(\d+))?(\[|$)", name
    ).groups()
    options = {"reading": reading} if reading else {}
    options |= {"renorm": True} if renorm else {}
    options |= {"k": int(k)} if k else {}
    for switch in re.findall(r"\[(.*?)\]", name):
        key, equals, value = switch.rpartition("=")
        if equals:
            options |= {"alpha": float(value)} if key == "alpha" else {"within": value}
        else:
            options[{"ERR": "err", "SBR": "covered", "NDCG": "gains"}[base.rpartition("-")[2]]] = value
    return CLASSES[base](**options)


def gold_name(cls, k, *, reading="table", err="literal", gains="binary", covered="relevant", alpha=0.5):
    """What gold calls a column of the command line under these options."""
    graded = "[graded]" if gains == "graded" else ""
    within = "[P(c|q,t)=pc]" if reading == "text" else ""
    return {
        TIAP: f"TIA-P@{k}",
        TIANDCG: f"TIA-NDCG-{reading}@{k}{graded}",
        TIAERR: f"TIA-ERR-{reading}@{k}[{err}]{within}",
        TIAAP: "TIA-AP",
        TSBR: f"T-SBR@{k}[{covered}]",
        TIASBR: f"TIA-SBR@{k}[alpha={alpha}][{covered}]",
        IAP: f"IA-P@{k}",
        IANDCG: f"IA-NDCG@{k}{graded}",
        IAERR: f"IA-ERR@{k}[{err}]",
        SBR: f"SBR@{k}",
    }[cls]


def column(cls, k, **options):
    """Every option that a measure knows stands in its name, where it is not the default."""
    chosen = {name: value for name, value in options.items() if name in cls.defaults()}
    return cls(**chosen).column if cls is TIAAP else cls(k=k, **chosen).column


@pytest.mark.parametrize("number", CASES)
def test_every_value_from_python(cases, number):
    """All readings and switches: 186 values a case."""
    case = cases[number]
    collection = RankedCollection(
        name=case["qid"],
        grades={case["qid"]: case["rel"]},
        windows=case["win"],
        probability={case["qid"]: case["pc"]} if case["pc"] else {},
    )
    run = RankedRun(name="run", rankings={case["qid"]: tuple(case["ranking"])})
    measures = {name: measure_named(name) for name in case["expected"]}
    scores = ranked_scores(collection, [run], measures)

    assert len(set(map(repr, measures.values()))) == 186
    found = {score.metric: score.value for score in scores if score.topic == case["qid"]}
    assert found == pytest.approx(case["expected"], abs=1e-9)


def write_files(folder, cases):
    """All cases as one collection and one run; documents get their topic's number, because each has its own windows."""
    qrels, windows, intents, run = [], [], [], []
    for case in cases:
        topic = case["qid"]
        qrels += [f"{topic} {c} {topic}-{doc} {g}" for c, of in case["rel"].items() for doc, g in of.items()]
        windows += [f"{topic}-{doc} {window}" for doc, window in case["win"].items()]
        intents += [f"{topic} {c} {p}" for c, p in (case["pc"] or {}).items()]
        run += [f"{topic} Q0 {topic}-{doc} 0 {-rank} run" for rank, doc in enumerate(case["ranking"])]
    for name, lines in {"qrels": qrels, "windows": windows, "intents": intents, "run": run}.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_command_line(cases, tmp_path, monkeypatch, capsys, options):
    """The same values through files, options and csv."""
    write_files(tmp_path, cases)
    files = [f"--{name}={tmp_path / name}" for name in ("qrels", "windows", "intents")]
    chosen = [f"--{name}={value}" for name, value in options.items()]
    depths = [f"-k{k}" for k in DEPTHS]
    ended = run_here(
        monkeypatch, capsys, "score", "ranked", *files, *chosen, *depths, "--format=csv", tmp_path / "run"
    )
    rows = csv.DictReader(io.StringIO(ended.out))
    found = {(row["topic"], row["metric"]): float(row["value"]) for row in rows if row["topic"] != "all"}
    wanted = {
        (case["qid"], column(cls, k, **options)): case["expected"][gold_name(cls, k, **options)]
        for case in cases
        for cls in CLASSES.values()
        for k in DEPTHS
    }

    assert len(wanted) == 10 * (9 * 5 + 1)
    assert found == pytest.approx(wanted, abs=1e-9)


def test_the_command_line_is_asked_for_all_it_can_express(cases):
    """What is left is for Python: P(c|q,t) other than P(c|q), renormalised P(c|q), and TIA-AP cut at k."""
    asked = {gold_name(cls, k, **options) for options in OPTIONS for cls in CLASSES.values() for k in DEPTHS}
    left = cases[0]["expected"].keys() - asked
    assert all(re.search(r"=(counts|uniform_in_t)\]|-renorm@|^TIA-AP@", name) for name in left), left
