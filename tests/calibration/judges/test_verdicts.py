"""Verdicts of judges are split off from what people said, and people's tables are as if no judge had been."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from calibration.judges.verdicts import COLUMNS, split_verdicts
from calibration.tables.files import checked_tables, read_tables, write_tables
from calibration.tables.preferences import counted_tables, exclusions
from metrics.errors import InputError

WORKERS = pd.DataFrame({"worker": ["w1", "w2", "w3"], "excluded": [False, True, False]})
JUDGES = pd.DataFrame(
    {"worker": ["gpt", "rule"], "kind": "model", "model": ["gpt-x", None], "prompt_sha256": ["ab12", None]}
)


def row(worker, left, right, choice, **more):
    return {
        "worker": worker,
        "task": "t",
        "topic": "q",
        "pair": "q/A/B",
        "system_left": left,
        "system_right": right,
        "choice": choice,
    } | more


PEOPLE = pd.DataFrame(
    [row("w1", "A", "B", "left"), row("w2", "B", "A", "left"), row("w3", "A", "B", "equally_bad")]
)
VERDICTS = pd.DataFrame(
    [
        row("gpt", "B", "A", "left", order=2, repeat=1),
        row("gpt", "A", "B", "left", order=1, repeat=1),
        row("gpt", "A", "B", "no_answer", order=1, repeat=2),
        row("rule", "A", "B", "contradicts"),
    ]
)


def both():
    """Return people's tables, and the same with the rows of judges among them."""
    mixed = pd.concat([PEOPLE[:1], VERDICTS[:2], PEOPLE[1:], VERDICTS[2:]], ignore_index=True)
    return (
        {"workers": WORKERS, "preferences": PEOPLE},
        {"workers": pd.concat([JUDGES, WORKERS], ignore_index=True), "preferences": mixed},
    )


@pytest.mark.parametrize("compact", [(), ("preferences",)])
@pytest.mark.parametrize("parquet", [False, True])
def test_peoples_tables_are_as_if_no_judge_had_been(tmp_path, compact, parquet):
    """Rows, order, numbers and categories are the same, from CSV and from Parquet."""
    for name, tables in zip(("without", "with"), both(), strict=True):
        write_tables(tables, tmp_path / name, parquet=parquet)
        if parquet:
            for path in (tmp_path / name).glob("*.csv"):
                path.unlink()
    people, _ = split_verdicts(read_tables(tmp_path / "with", compact=compact))
    alone = read_tables(tmp_path / "without", compact=compact)

    assert set(people) == set(alone)
    for name, frame in alone.items():
        assert_frame_equal(people[name], frame)


@pytest.mark.parametrize("compact", [(), ("preferences", "criteria")])
def test_peoples_tables_are_as_if_no_gold_pair_had_been(tmp_path, compact):
    """With what was asked and read about it; of a judge that is no person neither."""
    workers, judged = both()[1]["workers"], both()[1]["preferences"]
    judged = judged.assign(judgment=[f"j{row}" for row in range(len(judged))])
    criteria = pd.DataFrame({"judgment": judged["judgment"], "criterion": "correct", "choice": "left"})[3:]
    gold = pd.DataFrame(
        [
            row("w1", "B", "A", "right", judgment="g1", gold="left"),
            row("gpt", "C", "A", "left", judgment="g2", gold="left", order=1, repeat=1),
        ]
    )
    about_gold = criteria[:2].assign(judgment=["g1", "g2"])
    without = {"workers": workers, "preferences": judged, "criteria": criteria}
    mixed = without | {
        "preferences": pd.concat([gold[:1], judged[:2], gold[1:], judged[2:]], ignore_index=True),
        "criteria": pd.concat([about_gold, criteria], ignore_index=True),
    }
    for name, tables in (("without", without), ("with", mixed)):
        write_tables(tables, tmp_path / name)
    found, alone = (
        split_verdicts(read_tables(tmp_path / name, compact=compact)) for name in ("with", "without")
    )

    assert set(found[0]) == set(alone[0])
    for name, frame in alone[0].items():
        assert_frame_equal(found[0][name], frame)
    assert_frame_equal(found[1], alone[1])


@pytest.mark.parametrize("compact", [(), ("preferences",)])
def test_a_verdict_says_who_what_in_which_order_and_for_whom(tmp_path, compact):
    """Sides are resolved as those of people; what is no vote of a person keeps its name."""
    write_tables(both()[1], tmp_path)
    _, verdicts = split_verdicts(read_tables(tmp_path, compact=compact))

    assert tuple(verdicts.columns) == COLUMNS
    seen = verdicts[["judge", "model", "order", "is_swapped", "repeat", "vote"]].astype(object)
    assert seen.where(seen.notna(), None).to_numpy().tolist() == [
        ["gpt", "gpt-x", 1, False, 1, "votes_a"],
        ["gpt", "gpt-x", 1, False, 2, "no_answer"],
        ["gpt", "gpt-x", 2, True, 1, "votes_b"],
        ["rule", None, None, False, 1, "contradicts"],
    ]
    assert set(verdicts["system_a"]) == {"A"}
    assert set(verdicts["prompt_sha256"].dropna()) == {"ab12"}


def test_tables_without_a_judge_have_no_verdict_and_stay_as_they_are():
    """Nothing is copied, and the frame of verdicts has its columns all the same."""
    tables = checked_tables(both()[0])
    people, verdicts = split_verdicts(tables)

    assert all(people[name] is frame for name, frame in tables.items())
    assert verdicts.empty
    assert tuple(verdicts.columns) == COLUMNS


@pytest.mark.parametrize("exclude", [True, False])
def test_whoever_counts_rows_without_splitting_counts_no_judge_either(exclude):
    """The rule that leaves workers out leaves judges out whatever the options."""
    tables = checked_tables(both()[1])
    why = exclusions(tables["workers"], exclude=exclude)
    counted = counted_tables(tables, exclude=exclude)

    assert dict(why[why == "model"]) == {"gpt": "model", "rule": "model"}
    assert not {"gpt", "rule"} & set(counted["preferences"]["worker"])
    assert not {"gpt", "rule"} & set(counted["workers"]["worker"])


def test_tables_of_people_are_written_without_the_columns_of_judges(tmp_path):
    """A file has them only where a row fills them."""
    people, mixed = both()
    write_tables(people, tmp_path / "people")
    write_tables(mixed, tmp_path / "mixed")
    headers = {
        name: {path.stem: path.read_text().splitlines()[0].split(",") for path in (tmp_path / name).iterdir()}
        for name in ("people", "mixed")
    }

    assert not {"kind", "model", "prompt_sha256"} & set(headers["people"]["workers"])
    assert not {"order", "repeat"} & set(headers["people"]["preferences"])
    assert {"kind", "model", "prompt_sha256"} <= set(headers["mixed"]["workers"])
    assert {"order", "repeat"} <= set(headers["mixed"]["preferences"])


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"order": 1}, "order is filled in, and the worker is not of kind model"),
        ({"repeat": 1}, "repeat is filled in, and the worker is not of kind model"),
        ({"choice": "no_answer"}, "choice is no_answer, and the worker is not of kind model"),
        ({"choice": "contradicts"}, "choice is contradicts, and the worker is not of kind model"),
    ],
)
def test_what_only_a_judge_may_say_is_a_fault_of_a_person_with_row_and_cure(tmp_path, cells, fault):
    """Table workers says who is no person; a worker without a row there is one."""
    people, mixed = both()
    odd = pd.concat([people["preferences"], pd.DataFrame([row("w1", "B", "A", "left") | cells])])
    odd.to_csv(tmp_path / "preferences.csv", index=False)
    mixed["workers"].to_csv(tmp_path / "workers.csv", index=False)

    with pytest.raises(InputError) as raised:
        read_tables(tmp_path)
    [found] = raised.value.faults
    assert (found.line, found.problem) == (5, fault)
    assert "kind model in table workers" in found.cure
    with pytest.raises(InputError, match=fault):
        write_tables({"preferences": odd}, tmp_path / "written")


def test_a_person_has_no_model():
    """Half a judge is a fault, at its row."""
    with pytest.raises(InputError, match="workers:3: model or prompt_sha256 is filled in, and kind is not"):
        checked_tables({"workers": pd.DataFrame({"worker": ["a", "b"], "model": [None, "gpt"]})})


def test_a_verdict_that_stands_twice_is_a_fault():
    """A judge that is asked again says so in column repeat."""
    mixed = both()[1]
    mixed["preferences"] = pd.concat([mixed["preferences"], VERDICTS[:1]], ignore_index=True)

    with pytest.raises(
        InputError, match="preferences:9: gpt answered twice about this pair, in the same order"
    ):
        checked_tables(mixed)


def test_judges_stand_beside_people_of_whom_nobody_knows_who_they_were(tmp_path):
    """Their names do not make a crowd without names a crowd with some."""
    _, mixed = both()
    mixed["preferences"]["worker"] = mixed["preferences"]["worker"].where(
        mixed["preferences"]["worker"].isin(["gpt", "rule"])
    )
    write_tables(mixed, tmp_path)
    people, verdicts = split_verdicts(read_tables(tmp_path, compact=["preferences"]))

    assert people["preferences"]["worker"].isna().all()
    assert len(verdicts) == 4
    mixed["preferences"].loc[0, "worker"] = "w1"
    with pytest.raises(InputError, match="worker is empty here, and filled in on other rows"):
        write_tables(mixed, tmp_path / "half")
