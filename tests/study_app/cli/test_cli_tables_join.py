"""`prefcal tables join`: two waves of one crowd on the real server, with shared pseudonyms, become one study."""

import json

from calibration.tables.files import read_tables
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_study import write_small_study


def test_two_served_waves_become_one_and_every_command_says_who_may_stand_twice(
    campaign, monkeypatch, capsys, tmp_path
):
    """A platform id is one worker with the key, and two without, which agree, rank and the report then say."""
    study = campaign()
    monkeypatch.setattr("study_app.store.tokens.utc_now", study.clock)

    def command(*arguments):
        ended = run_here(monkeypatch, capsys, *arguments)
        assert ended.code == 0, ended.err
        return ended

    for name in ("first", "second", "small"):
        if name != "small":
            folder = study.folder / name
            folder.mkdir()
            file = write_small_study(folder, study=name, pseudonyms="shared people.key")
            (folder / "people.key").write_text("0123456789abcdefghijklmnopqrstuv\n")
            command("study", "load", file, "--database", study.url)
        visitor = study.arrive("ann", study=name).send().send(topic="1")
        study.clock.forward(300)
        study.judge_all(visitor.send())
        command("export", tmp_path / name, "--study", name, "--database", study.url)

    shared = command("tables", "join", tmp_path / "first", tmp_path / "second", "-o", tmp_path / "shared")
    random = command("tables", "join", tmp_path / "first", tmp_path / "small", "-o", tmp_path / "random")

    assert "1 person took part in more than one" in shared.out
    assert "people_may_stand_twice" not in shared.out
    assert "people_may_stand_twice" in random.out
    assert read_tables(tmp_path / "shared")["workers"]["worker"].nunique() == 1
    assert read_tables(tmp_path / "random")["workers"]["worker"].nunique() == 2
    warned = command("rank", tmp_path / "random")
    assert sum("people_may_stand_twice" in line for line in warned.err.splitlines()) == 1
    content = json.loads((tmp_path / "shared" / "study.json").read_text())
    task = next(iter(content["tasks"].values()))
    assert all(len(digest) == 16 for digest in task["topics"].values())
    assert task["systems"]


def test_names_of_a_strangers_study_do_not_steer_the_terminal(monkeypatch, capsys, tmp_path):
    """Names of studies and workers come from files; a fault is one line, and so is a note."""
    for name, topic in (("one", "t1"), ("two", "t2")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "study.json").write_text(json.dumps({"study": f"\x1b[31m{name}"}))
        (folder / "preferences.csv").write_text(
            f"worker,task,topic,system_left,system_right,choice\nw\x1b[31m,pairs,{topic},a,b,left\n"
        )
    command = ("tables", "join", tmp_path / "one", tmp_path / "two", "-o", tmp_path / "joined")

    refused = run_here(monkeypatch, capsys, *command)
    joined = run_here(monkeypatch, capsys, *command, "--workers", "same")

    assert (refused.code, joined.code) == (1, 0)
    assert len(refused.err.splitlines()) == 1
    assert "\x1b" not in refused.err + joined.err + joined.out
    assert "1 person took part in more than one" in joined.out
