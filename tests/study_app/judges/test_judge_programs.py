"""Programs as judges: every request is settled once, whatever the program does."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.study_app.judges.requests_file import PROMPT, read_lines, write_requests
from tests.study_app.prefcal_command import run_in_thread

ANSWERS = Path(__file__).parents[3] / "examples" / "answers" / "study.yaml"
HEAD = """
import json, os, sys, time
log = open({log!r}, "a", buffering=1)
def say(request, **answer):
    print(json.dumps({{"id": request["id"], **(answer or {{"choice": "A"}})}}), flush=True)
print_id = lambda request: log.write(request["id"] + "\\n")
def requests():
    for line in sys.stdin:
        request = json.loads(line)
        print_id(request)
        yield request
log.write("start\\n")
"""


class Program:
    """A program that was written for a test, and what it was asked."""

    def __init__(self, folder: Path, source: str) -> None:
        self.log = folder / "asked.log"
        path = folder / "program.py"
        path.write_text(HEAD.format(log=str(self.log)) + source, encoding="utf-8")
        self.command = shlex.join([sys.executable, str(path)])

    @property
    def asked(self) -> Counter[str]:
        return Counter(self.log.read_text().split())


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a program on so many requests; returns how the command ended, the answers, the program and the ids."""

    def started(source, count=20, *options):
        program = Program(tmp_path, source)
        ids = write_requests(tmp_path / "requests.jsonl", count)
        out = tmp_path / "answers.jsonl"
        arguments = ("judge", "run", tmp_path / "requests.jsonl", "-o", out, "--command", program.command)
        ended = run_in_thread(monkeypatch, capsys, *arguments, *options)
        return ended, read_lines(out), program, ids

    return started


def choices(answers):
    return {answer["id"]: answer.get("choice") for answer in answers}


def test_answers_are_matched_by_id_in_any_order_and_the_input_is_closed_at_the_end(run):
    """A program may read everything before it answers."""
    ended, answers, program, ids = run(
        "for request in list(requests())[::-1]: say(request, text='Answer: B', tokens=[10, 2], model='m')"
    )
    assert [answer["id"] for answer in answers] == ids[::-1]
    assert {key: answers[0][key] for key in ("choice", "text", "tokens", "model", "prompt_sha256")} == {
        "choice": "B", "text": "Answer: B", "tokens": [10, 2], "model": "m", "prompt_sha256": PROMPT,
    }  # fmt: skip
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", answers[0]["decided_at"])
    assert program.asked["start"] == 1
    assert "200 tokens in and 40 out" in ended.out


def test_as_many_processes_as_jobs_serve_the_whole_run(run):
    """Each gets its share, and none is started for a request of its own."""
    _, answers, program, ids = run(
        "for request in requests(): time.sleep(.01); say(request, choice='A', model=str(os.getpid()))",
        40, "--jobs", "3",
    )  # fmt: skip
    shares = Counter(answer["model"] for answer in answers)
    assert program.asked["start"] == 3
    assert len(shares) == 3
    assert min(shares.values()) >= 10
    assert sorted(choices(answers)) == ids


def test_what_a_program_leaves_out_is_asked_once_more_and_kept_as_no_answer(run):
    """All of it together; the others are asked once."""
    ended, answers, program, ids = run(
        "for request in requests():\n    if int(request['id'], 16) % 5: say(request)"
    )
    left_out = ids[::5]
    assert {name for name, choice in choices(answers).items() if choice == "no_answer"} == set(left_out)
    assert {program.asked[name] for name in left_out} == {2}
    assert {program.asked[name] for name in set(ids) - set(left_out)} == {1}
    assert program.asked["start"] == 2
    assert "16 answers, 4 requests without an answer" in ended.out
    assert {answer["reason"] for answer in answers if "reason" in answer} == {
        "the program ended without an answer"
    }


@pytest.mark.parametrize("fault", ["sys.exit(3)", "os.kill(os.getpid(), 9)", "time.sleep(60)"])
def test_one_request_that_breaks_a_program_takes_no_other_with_it(run, fault):
    """It is asked twice, the second time alone; those behind it are answered."""
    _, answers, program, ids = run(
        f"for request in requests():\n    if request['id'].endswith('7'): {fault}\n    say(request)",
        20, "--timeout", "0.7",
    )  # fmt: skip
    assert {name: choice for name, choice in choices(answers).items() if choice != "A"} == {
        ids[7]: "no_answer"
    } | {name: "no_answer" for name in ids if name.endswith("7")}
    assert program.asked[ids[7]] == 2
    assert len(answers) == 20


def test_a_program_that_fails_once_loses_nothing(run, tmp_path):
    """What it could not answer is answered at the second time."""
    _, answers, _, ids = run(
        f"once = {str(tmp_path / 'once')!r}\n"
        "for request in requests():\n"
        "    if request['id'].endswith('5') and not os.path.exists(once): open(once, 'w'); sys.exit(1)\n"
        "    say(request)"
    )
    assert choices(answers) == dict.fromkeys(ids, "A")


def test_a_program_that_fails_every_few_requests_answers_all(run):
    """Those that it has never read are not counted as asked."""
    _, answers, program, ids = run(
        "for number, request in enumerate(requests(), start=1):\n    say(request)\n    if number == 3: sys.exit(1)"
    )
    assert choices(answers) == dict.fromkeys(ids, "A")
    assert program.asked["start"] >= 7


def test_a_program_that_falls_silent_is_asked_about_every_request_twice(run):
    """Nothing hangs, and every request is kept."""
    source = "for request in requests():\n    if request['id'].endswith('0'): say(request)\ntime.sleep(60)"
    ended, answers, program, ids = run(source, 3, "--timeout", "0.5")
    assert choices(answers) == dict.fromkeys(ids, "no_answer") | {ids[0]: "A"}
    assert {answer["reason"] for answer in answers[1:]} == {"no answer within 0.5 s"}
    assert [program.asked[name] for name in ids[:2]] == [1, 2]
    assert ended.code == 0


def test_a_program_that_does_not_work_ends_the_run_and_nothing_is_kept(run):
    """Else a wrong command would fill the file with no_answer."""
    ended, answers, _, _ = run("sys.exit(4)", 200)
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        "the judge does not answer (the program ended with status 4, 20 times in a row)"
    )
    assert answers == []


@pytest.mark.parametrize("count", [3, 40])
def test_a_program_that_answers_nothing_at_all_leaves_every_request_open(run, count):
    """It reads all and ends well, but writes something else, which is shown; a program that is mended is asked again."""
    ended, answers, _, ids = run("for request in requests(): print(request['id'], 'A')", count)
    *_, stray, last = ended.err.splitlines()
    assert ended.code == 1
    assert f"{2 * count} lines of the program answered no open request, the first '{ids[0]} A'" in stray
    assert last == (
        f"the judge has answered none of {count} requests (the program ended without an answer); nothing is kept"
    )
    assert answers == []
    assert choices(run("for request in requests(): say(request)", count)[1]) == dict.fromkeys(ids, "A")


def test_a_run_that_is_over_asks_nothing_more(run):
    """The same command says again what there is."""
    run("for request in requests(): say(request)", 5)
    ended, answers, program, _ = run("for request in requests(): say(request)", 5)
    assert (ended.code, len(answers), program.asked["start"]) == (0, 5, 1)
    assert "5 of 5 requests are answered already" in ended.err
    assert "answers.jsonl: 5 answers\n" in ended.out


def test_lines_that_answer_nothing_are_counted(run):
    """Words, answers to nothing, second answers, and bytes that are no text."""
    ended, answers, _, ids = run(
        'print(\'loading\', flush=True)\nprint(\'{"id": "x", "choice": "A"}\')\nsys.stdout.buffer.write(b\'\\xff\\n\')\n'
        "for request in requests(): say(request); say(request, choice='B')",
        5,
    )
    assert choices(answers) == dict.fromkeys(ids, "A")
    assert re.search(
        "[78] lines of the program answered no open request, the first 'loading'; each answer is a line such as",
        ended.err,
    )


def test_an_answer_that_nobody_can_read_is_kept_with_its_text_and_counted(run):
    """It is settled: the judge has spoken."""
    ended, answers, program, ids = run(
        "for request in requests(): say(request, text='It depends on ' + chr(0xd800))", 4
    )
    assert [answer.get("choice") for answer in answers] == [None] * 4
    assert {answer["text"] for answer in answers} == {"It depends on \ud800"}
    assert ended.out.splitlines()[0].endswith(
        "answers.jsonl: 0 answers, 4 that cannot be read (kept as text)"
    )
    assert {program.asked[name] for name in ids} == {1}


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--command", "no-such-program-here"], 1, "the program no-such-program-here cannot be started"),
        (["--command", "'unclosed"], 2, "--command cannot be read"),
        ([], 2, "give --command or --url, one of the two"),
        (["--command", "cat", "--url", "http://x"], 2, "give --command or --url, one of the two"),
        (["--url", "http://x"], 2, "--url needs --model"),
        (
            ["--url", "ftp://x", "--model", "m"],
            1,
            "--url is no address; write it such as http://localhost:8000/v1",
        ),
        (["--command", "cat", "--price", "1"], 2, "is not like 0.15,0.60"),
        (["--command", "cat", "--jobs", "0"], 2, "0 is not in the range"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_line(tmp_path, monkeypatch, capsys, options, code, said):
    """Before anything is asked."""
    write_requests(tmp_path / "requests.jsonl", 2)
    ended = run_in_thread(
        monkeypatch, capsys, "judge", "run", tmp_path / "requests.jsonl", "-o", tmp_path / "a.jsonl", *options
    )
    assert ended.code == code
    assert said in ended.err
    assert "Traceback" not in ended.err


def command_line(folder, program, *options):
    """Return the words that start a run in a process of its own, which Ctrl-C reaches also where it is begun in the background."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from study_app.cli import main; main()"
    )
    words = [
        "judge",
        "run",
        folder / "requests.jsonl",
        "-o",
        folder / "answers.jsonl",
        "--command",
        program.command,
    ]
    return [sys.executable, "-c", code, *map(str, [*words, *options])]


def wait_for_lines(path, count):
    """Wait until a file has so many lines."""
    until = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_run_that_is_killed_again_and_again_loses_no_answer_and_asks_none_twice(tmp_path):
    """Three kills, one by Ctrl-C; then it ends, and every request has one answer."""
    program = Program(
        tmp_path,
        f"""
for number, request in enumerate(requests()):
    time.sleep(.002 if number < 25 or os.path.exists({str(tmp_path / "free")!r}) else .5)
    say(request)
""",
    )
    ids = write_requests(tmp_path / "requests.jsonl", 200)
    out = tmp_path / "answers.jsonl"
    kept = []
    for number, way in enumerate((signal.SIGKILL, signal.SIGINT, signal.SIGKILL), start=1):
        with subprocess.Popen(
            command_line(tmp_path, program, "--jobs", "2"), stderr=subprocess.PIPE, text=True
        ) as process:
            wait_for_lines(out, 40 * number)
            os.kill(process.pid, way)
            _, errors = process.communicate()
        if way == signal.SIGINT:
            assert process.returncode == 130
            assert re.search(r"stopped after \d+; the same command goes on", errors)
        assert (
            "study_app" not in errors
        )  # in a traceback of the program that loses its pipe, there is none of ours
        whole = out.read_bytes()
        kept.append(whole[: whole.rfind(b"\n") + 1])
        if number == 1:
            with out.open("ab") as file:
                file.write(b'{"id": "00000')
    (tmp_path / "free").touch()
    ended = subprocess.run(command_line(tmp_path, program), capture_output=True, text=True, check=True)

    assert all(out.read_bytes().startswith(before) for before in kept)
    answers = read_lines(out)
    assert sorted(answer["id"] for answer in answers) == ids
    assert "of 200 requests are answered already" in ended.stderr


def test_a_run_refuses_answers_to_other_requests(run, tmp_path):
    """They would be mixed with those of this prompt."""
    run("for request in requests(): say(request)", 6)
    with (tmp_path / "answers.jsonl").open("a") as file:
        file.write('{"id": "other", "choice": "A"}\n')
    ended, _, _, _ = run("for request in requests(): say(request)", 6)
    assert ended.code == 1
    assert "answers.jsonl:7: this line answers a request that there is not" in ended.err


def test_the_bundled_judge_answers_the_bundled_study(tmp_path, monkeypatch, capsys):
    """The longer side wins most pairs, and its noise is the same each time."""
    requests, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    run_in_thread(monkeypatch, capsys, "judge", "requests", ANSWERS, "-o", requests, "--samples", "10")
    command = f"{shlex.quote(sys.executable)} -m study_app.judges.longer"
    ended = run_in_thread(
        monkeypatch, capsys, "judge", "run", requests, "-o", answers, "--command", command, "--jobs", "2"
    )
    again = run_in_thread(
        monkeypatch, capsys, "judge", "run", requests, "-o", tmp_path / "again.jsonl", "--command", command
    )
    asked = {one["id"]: one["messages"][0]["content"] for one in read_lines(requests)}
    sides = {
        name: [len(side) for side in re.findall(r"<[AB]>(.*?)</[AB]>", text, re.DOTALL)]
        for name, text in asked.items()
    }
    wins = [
        (sides[name][0] >= sides[name][1]) == (choice == "A")
        for name, choice in choices(read_lines(answers)).items()
    ]
    assert (ended.code, again.code) == (0, 0)
    assert choices(read_lines(answers)) == choices(read_lines(tmp_path / "again.jsonl"))
    assert 0.65 < sum(wins) / len(wins) < 0.85
    assert json.dumps(choices(read_lines(answers)))


@pytest.mark.parametrize("choice", [{"a": 1}, ["A"], 5, True])
def test_a_choice_that_is_no_text_is_an_answer_that_nobody_can_read(run, choice):
    """It ends no run with a trace."""
    ended, answers, _, _ = run(f"for request in requests(): say(request, choice={choice!r})", 3)
    assert (ended.code, [answer["text"] for answer in answers]) == (0, [str(choice)] * 3)


def test_answers_are_not_written_into_the_requests_or_into_another_file(tmp_path, monkeypatch, capsys):
    """A file that no run wrote stays as it is, also its last line."""
    write_requests(tmp_path / "requests.jsonl", 2)
    before = (tmp_path / "requests.jsonl").read_bytes()
    (tmp_path / "notes.txt").write_text("first\nprecious")
    said = [
        run_in_thread(
            monkeypatch,
            capsys,
            "judge",
            "run",
            tmp_path / "requests.jsonl",
            "-o",
            tmp_path / name,
            "--command",
            "true",
        ).err
        for name in ("requests.jsonl", "notes.txt")
    ]
    assert "-o names the file of requests" in said[0]
    assert "is no answer" in said[1]
    assert (tmp_path / "requests.jsonl").read_bytes() == before
    assert (tmp_path / "notes.txt").read_text() == "first\nprecious"
