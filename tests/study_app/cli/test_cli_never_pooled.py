"""No command that reads tables counts a judge that is no person, or a gold pair: what it prints and writes is the same without."""

import json
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import prefcal
from calibration.tables.files import read_tables, write_tables
from study_app.cli import cli
from tests.calibration.judged_summaries import study
from tests.study_app.prefcal_command import run_here, without_figures

COMMANDS = {
    "check": "check {tables}",
    "fit": "fit {tables} -o {out}/user-model.json --bootstrap 100",
    "rank": "rank {tables} -o {out}/results",
    "agree": "agree {tables} -o {out}/results",
    "convert tables-to-lines": "convert tables-to-lines {tables} --winner-first --task {task} -o {out}/lines.txt",
}
"""Every command that takes a folder of tables, as it is called."""
BESIDE = {"out", "results/agree.json", "results/figures/captions.csv", "results/report-tables/captions.csv"}
"""Where `agree` and the report say more where there are judges, beside what they say without."""
OF_THE_FOLDER = ("tables_sha256", "prefcal_version", "command", "again", "tables")
"""What a record says of the folder itself."""


def with_judges(tables, seed=7):
    """Return tables with two judges among the people: one contradicts them, one answers at random; both did other things too."""
    rng = np.random.default_rng(seed)
    votes = tables["preferences"].drop_duplicates(["task", "topic", "pair"])
    opposite = {"left": "right", "right": "left", "equally_good": "equally_bad", "equally_bad": "no_answer"}
    known = ["task", "topic", "pair", "system_left", "system_right"]
    rows = [
        votes[known].assign(worker="opposite", choice=votes["choice"].map(opposite), order=1, repeat=1),
        votes[known].assign(
            worker="random",
            choice=rng.choice(["left", "right", "equally_good", "contradicts"], len(votes)),
            decision_seconds=0.01,
        ),
    ]
    verdicts = pd.concat(rows, ignore_index=True)
    verdicts["judgment"] = [f"V{number}" for number in range(len(verdicts))]
    mixed = pd.concat([tables["preferences"], verdicts], ignore_index=True)
    judges = pd.DataFrame(
        {"worker": ["opposite", "random"], "kind": "model", "model": ["m-1", None], "excluded": [False, True]}
    )
    shuffled = rng.permutation(len(mixed))
    order = np.empty(len(mixed), dtype=int)
    is_verdict = mixed["worker"].isin(judges["worker"]).to_numpy()
    order[np.sort(shuffled[: is_verdict.sum()])] = np.flatnonzero(
        is_verdict
    )  # among people's rows, which keep their order
    order[np.sort(shuffled[is_verdict.sum() :])] = np.flatnonzero(~is_verdict)
    others = {
        name: pd.concat([frame.head(1).assign(worker="random"), frame], ignore_index=True)
        for name, frame in tables.items()
        if "worker" in frame and name not in {"preferences", "workers"}
    }
    workers = [judges[:1], tables["workers"], judges[1:]] if "workers" in tables else [judges]
    return (
        dict(tables)
        | others
        | {
            "preferences": mixed.iloc[order].reset_index(drop=True),
            "workers": pd.concat(workers, ignore_index=True),
        }
    )


def with_gold(tables, seed=7):
    """Return tables in which each worker answered every fourth pair once more, as a gold pair, and read it slowly."""
    rng = np.random.default_rng(seed)
    judged, mixed = tables["preferences"], dict(tables)
    gold = judged.iloc[::4].assign(
        judgment=lambda rows: "G" + rows["judgment"],
        choice=lambda rows: rng.choice(["left", "right", "equally_bad"], len(rows)),
        gold="left",
        validation_of=None,
        decision_seconds=60.0,
    )
    mixed["preferences"] = pd.concat([gold[:5], judged, gold[5:]], ignore_index=True)
    number = {"dwell_seconds": 99.0, "chars_read": 1.0}
    for name in ("reads", "stops"):
        frame = tables[name]
        about = frame.iloc[: len(gold)].assign(judgment=gold["judgment"].to_numpy()[: len(frame)])
        slow = {column: value for column, value in number.items() if column in frame}
        mixed[name] = pd.concat([frame, about.assign(**slow)], ignore_index=True)
    asked = gold[["judgment", "choice"]].assign(criterion="correct")
    return mixed | {"criteria": asked}


@pytest.fixture(scope="module", params=["named", "unknown", pytest.param("copies", marks=pytest.mark.soak)])
def folders(request, tmp_path_factory):
    """Return the same study without judges and with them: its workers known, unknown, and some who give the same answers.

    Where they are known, the second also has gold pairs.
    """
    tables, with_gold_pairs = study(), dict
    if request.param == "named":
        tables = prefcal.simulate(prefcal.SimulatedStudy(workers=10, topics=3))
        tables["workers"].loc[2, "excluded"] = True
        with_gold_pairs = with_gold
    if request.param == "unknown":
        tables["preferences"]["worker"] = None
    if request.param == "copies":
        first = tables["preferences"][
            tables["preferences"]["worker"] == tables["preferences"]["worker"].iloc[0]
        ]
        copied = first.assign(worker="copy", judgment=[f"c{row}" for row in range(len(first))])
        tables["preferences"] = pd.concat([tables["preferences"], copied], ignore_index=True)
    room = tmp_path_factory.mktemp("pooled")
    for name, frames in (("people-only", tables), ("with-judges", with_judges(with_gold_pairs(tables)))):
        write_tables(frames, room / name / "tables")
    return room / "people-only", room / "with-judges"


def commands(group=cli, before=""):
    """Yield the commands that take a folder of tables, by the words that call them."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        elif any(isinstance(each, click.Argument) and each.name == "tables" for each in command.params):
            yield before + name


def test_every_command_that_takes_tables_is_looked_at():
    """A new one is to be compared with and without judges too."""
    assert set(commands()) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_and_writes_the_same_with_judges_and_without(
    command, folders, tmp_path, monkeypatch, capsys
):
    """Only `check` and `agree` say besides what judges there are, and what the folder is called and holds differs."""
    said = [ran(COMMANDS[command], folder, tmp_path / folder.name, monkeypatch, capsys) for folder in folders]

    assert said[0]["code"] == said[1]["code"] < 2  # nothing can be fitted to some of these studies
    if command == "check":
        assert "2 judges beside people, with" in said[1]["out"]
        has_gold = (folders[1] / "tables" / "criteria.csv").exists()
        assert ("of gold pairs: in no estimate" in said[1]["out"]) == has_gold
        lines = [set(each["err"].splitlines()) for each in said]
        assert lines[0] == lines[1]
    elif command == "agree" and "results/judge.csv" in said[1]:
        without, mixed = ({name: lines_of(text) for name, text in each.items()} for each in said)
        assert [name for name, lines in without.items() if not stands_in(lines, mixed[name])] == []
        more = {name for name in mixed if name not in without}
        assert all(Path(name).name.startswith("judge") for name in more)
        assert {name for name in without if without[name] != mixed[name]} <= BESIDE
    else:
        assert said[0] == said[1]


def lines_of(text):
    """Return the lines of a text but those that close the list of files in a record."""
    return str(text).replace('",', '"').splitlines()


def stands_in(lines, more):
    """Say whether lines stand in this order among more lines."""
    rest = iter(more)
    return all(line in rest for line in lines)


def ran(words, folder, out, monkeypatch, capsys):
    """Run a command, and the report of what it wrote; return everything that it said and wrote, its place taken out."""
    out.mkdir()
    without_figures(monkeypatch)
    task = pd.read_csv(folder / "tables" / "preferences.csv")["task"].iloc[0]
    ended = run_here(monkeypatch, capsys, *words.format(tables=folder / "tables", out=out, task=task).split())
    places = (str(out), str(folder), folder.name)
    if (out / "results").is_dir():
        run_here(monkeypatch, capsys, "report", out / "results")
    found = {"code": ended.code, "out": plain(ended.out, places), "err": plain(ended.err, places)}
    for path in sorted(path for path in out.rglob("*") if path.suffix in {".csv", ".txt", ".tsv", ".json"}):
        found[str(path.relative_to(out))] = plain(content(path), places)
    return found


def content(path: Path) -> str:
    """Return a file's text; of a record what is not about the folder itself."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".json":
        return text
    record = json.loads(text)
    return json.dumps({name: value for name, value in record.items() if name not in OF_THE_FOLDER}, indent=1)


def plain(text, places):
    for place in places:
        text = text.replace(place, "PLACE")
    return "\n".join(line for line in text.splitlines() if "sha256" not in line)


@pytest.mark.parametrize("form", [pytest.param("folder", marks=pytest.mark.soak), "frames"])
def test_python_counts_no_judge_either(form, folders):
    """Of a folder and of frames: fit, agree and rank; the judge excluded as a worker, and not."""
    without, mixed = (
        folder / "tables" if form == "folder" else read_tables(folder / "tables") for folder in folders
    )
    fits = [prefcal.fit(tables, seed=3) for tables in (without, mixed)]
    ranks = [
        prefcal.rank(tables, exclude=exclude) for exclude in (True, False) for tables in (without, mixed)
    ]
    found = [prefcal.agree(tables, seed=3) for tables in (without, mixed)]

    assert_frame_equal(fits[0].frame(), fits[1].frame())
    assert [str(each) for each in fits[0].skipped] == [str(each) for each in fits[1].skipped]
    for one, other in ((ranks[0], ranks[1]), (ranks[2], ranks[3])):
        assert_frame_equal(one.ranking, other.ranking)
        assert_frame_equal(one.duels, other.duels)
        assert one.notes == other.notes
    for name in ("agreement", "comparisons", "curve", "pairs", "disagreements"):
        assert_frame_equal(getattr(found[0], name), getattr(found[1], name))
    assert found[0].notes == found[1].notes
    assert set(prefcal.read_verdicts(mixed)["judge"]) == {"opposite", "random"}
    assert prefcal.read_verdicts(without).empty
