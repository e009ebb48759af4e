"""Servers as judges: what is busy, slow, broken or nonsense costs no answer, and the key is nowhere."""

import json
import time

import pytest

from study_app import http_client
from study_app.judges import servers
from tests.study_app.judges.judge_server import completion, serving
from tests.study_app.judges.requests_file import read_lines, write_requests
from tests.study_app.prefcal_command import run_apart, run_in_thread

KEY = "sk-very-SECRET-0815"


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """Run a server on so many requests; returns how the command ended, and the answers."""
    monkeypatch.setattr(http_client, "GROWING", lambda _state: 0.01)
    monkeypatch.setenv(servers.KEY_VARIABLE, KEY)

    def asked(server, count=6, *options):
        write_requests(tmp_path / "requests.jsonl", count)
        out = tmp_path / "answers.jsonl"
        words = (
            "judge",
            "run",
            tmp_path / "requests.jsonl",
            "-o",
            out,
            "--url",
            server.base,
            "--model",
            "toy",
        )
        ended = run_in_thread(monkeypatch, capsys, *words, *options)
        return ended, read_lines(out) if out.exists() else []

    return asked


def test_a_server_is_asked_as_clients_of_chat_completions_ask(ask):
    """Model, messages and key; at the end it says the tokens, and what they cost."""
    with serving(lambda *_: completion("Answer: B")) as server:
        ended, answers = ask(server, 6, "--temperature", "0", "--price", "1,10")
    assert server.bodies[0]["model"] == "toy"
    assert server.bodies[0]["temperature"] == 0
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert {(answer["choice"], answer["model"], *answer["tokens"]) for answer in answers} == {
        ("B", "toy-1", 100, 7)
    }
    assert "600 tokens in and 42 out: 0.00" in ended.out
    assert "6 requests: " in ended.err


def test_no_more_requests_at_a_time_than_jobs(ask):
    """And as many, where the server is slow."""

    def slow(*_):
        time.sleep(0.05)
        return completion("A")

    with serving(slow) as server:
        _, answers = ask(server, 12, "--jobs", "4")
    assert server.most_at_once == 4
    assert len(answers) == 12


def busy(status, headers=None):
    """Fail at the first two attempts."""

    def answer(attempt, _message, _handler):
        return (status, headers or {}, b"busy") if attempt < 3 else completion("A")

    return answer


def half_a_line(attempt, _message, handler):
    if attempt > 2:
        return completion("A")
    handler.send_response(200)
    handler.send_header("Content-Length", "500")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"mess')
    handler.close_connection = True
    return None


def no_line(attempt, _message, handler):
    if attempt > 2:
        return completion("A")
    handler.close_connection = True
    return None


@pytest.mark.parametrize(
    "answer",
    [
        busy(429),
        busy(500),
        busy(503),
        busy(503, {"Retry-After": "Thu, 01 Jan 2015 00:00:00 GMT"}),
        half_a_line,
        no_line,
    ],
    ids=["429", "500", "503", "date", "half a line", "no line"],
)
def test_a_server_that_is_busy_or_cut_off_is_asked_again_and_nothing_is_lost(ask, answer):
    """Each request has one answer."""
    with serving(answer) as server:
        _, answers = ask(server)
    assert [answer["choice"] for answer in answers] == ["A"] * 6
    assert set(server.asked.values()) == {3}


def test_the_time_that_a_server_names_is_waited(ask):
    """Not less, however often it would be asked else."""
    with serving(busy(429, {"Retry-After": "0.6"})) as server:
        began = time.monotonic()
        ask(server, 1)
    assert time.monotonic() - began >= 1.2
    assert server.asked.total() == 3


def test_a_server_that_wants_too_long_a_wait_ends_the_run_at_once(ask):
    """Nothing is kept for it; the same command goes on later."""
    with serving(lambda *_: (429, {"Retry-After": "86400"}, b"")) as server:
        ended, answers = ask(server)
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        f"{server.base}/chat/completions answers 429; run the same command again in 86,400 s"
    )
    assert answers == []


def test_a_server_that_stays_busy_ends_the_run_and_the_requests_stay_open(ask):
    """What was answered is kept, and the next run asks the rest."""
    seen = []

    def answer(_attempt, message, _handler):
        seen.append(message)
        return completion("A") if len(set(seen)) <= 3 else (429, {"Retry-After": "0"}, b"")

    with serving(answer) as server:
        ended, answers = ask(server)
    assert ended.code == 1
    assert "does not answer (429); run the same command again later" in ended.err
    assert len(answers) == 3
    with serving(lambda *_: completion("B")) as server:
        ended, answers = ask(server)
    assert (ended.code, server.asked.total()) == (0, 3)
    assert [answer["choice"] for answer in answers] == ["A"] * 3 + ["B"] * 3


def test_a_slow_answer_is_asked_for_once_more_and_kept_as_no_answer(ask):
    """Also one that comes byte by byte."""

    def slow(_attempt, message, handler):
        if "000000002 " not in message:
            return completion("A")
        handler.send_response(200)
        handler.send_header("Content-Length", "500")
        handler.end_headers()
        for _ in range(40):
            handler.wfile.write(b" ")
            time.sleep(0.05)
        handler.close_connection = True
        return None

    with serving(slow) as server:
        _, answers = ask(server, 6, "--timeout", "0.5", "--jobs", "6")
    silent = [answer for answer in answers if answer["choice"] == "no_answer"]
    assert len(answers) == 6
    assert [(answer["id"], answer["reason"]) for answer in silent] == [
        (f"{2:016x}", "no answer within 0.5 s")
    ]
    assert max(server.asked.values()) == 2


@pytest.mark.parametrize(
    "body", [b"<html>busy</html>", b"{}", b'{"choices": []}', b"[1]", b'{"choices": [{"message": 3}]}']
)
def test_nonsense_is_asked_for_once_more_and_kept_with_its_reason(ask, body):
    """It is no answer of the judge."""
    with serving(lambda _a, message, _h: body if "000000004 " in message else completion("A")) as server:
        _, answers = ask(server)
    wrong = next(answer for answer in answers if answer["choice"] == "no_answer")
    assert len(answers) == 6
    assert wrong["reason"] == f"what the server says is no chat completion: {body.decode()}"
    assert max(server.asked.values()) == 2


def test_a_text_that_nobody_can_read_is_kept_and_not_asked_for_again(ask):
    """Refusals too, and answers without words."""
    refusal = json.dumps({"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}).encode()
    texts = {"0": completion("Both."), "1": refusal, "2": completion(""), "3": completion("Answer: A")}
    with serving(lambda _a, message, _h: texts[message.partition("00000000000")[2][4:5]]) as server:
        ended, answers = ask(server, 4)
    assert [(answer["text"], answer.get("choice")) for answer in answers] == [
        ("Both.", None), ("I cannot.", None), ("", None), ("Answer: A", "A"),
    ]  # fmt: skip
    assert "1 answer, 3 that cannot be read (kept as text)" in ended.out
    assert set(server.asked.values()) == {1}


@pytest.mark.parametrize(
    ("status", "cure"),
    [
        (401, "set PREFCAL_JUDGE_KEY to a key of this server"),
        (404, "see whether --url ends as"),
        (302, "give the address"),
    ],
)
def test_what_is_refused_to_everybody_ends_the_run_with_one_line(ask, status, cure):
    """With what the server says, and the cure."""
    said = json.dumps({"error": {"message": "no such\nthing"}}).encode()
    with serving(lambda *_: (status, {}, said)) as server:
        ended, answers = ask(server)
    assert ended.code == 1
    assert f"answers {status}: no such thing; {cure}" in ended.err.splitlines()[-1]
    assert answers == []


def test_a_request_that_is_refused_alone_is_kept_as_no_answer(ask):
    """A text that is too long for the model, for example; even the first ones."""
    with serving(lambda _a, m, _h: (400, {}, b"too long") if "0000000 " in m else completion("A")) as server:
        _, answers = ask(server, 40)
    assert len(answers) == 40
    assert [answer["reason"] for answer in answers if answer["choice"] == "no_answer"] == ["400: too long"]


def test_a_server_that_is_not_there_is_said_in_one_line(ask):
    """No trace, and nothing kept."""
    with serving(lambda *_: completion("A")) as server:
        pass
    ended, answers = ask(server)
    assert ended.code == 1
    assert "cannot be reached (" in ended.err.splitlines()[-1]
    assert "Traceback" not in ended.err
    assert answers == []


def echo(attempt, message, handler):
    """Say the key everywhere that a server can say something."""
    key = handler.headers["Authorization"]
    if "0000001 " in message:
        return 400, {}, f"wrong key {key}".encode()
    if "0000002 " in message:
        return f"nonsense {key}".encode()
    return completion(f"I got {key}. Answer: A", model=f"m {key}")


def test_the_key_is_in_no_file_and_in_no_line(ask, tmp_path):
    """Not even where the server repeats it."""
    with serving(echo) as server:
        ended, _ = ask(server)
    with serving(lambda _a, _m, handler: (401, {}, handler.headers["Authorization"].encode())) as server:
        (tmp_path / "answers.jsonl").rename(tmp_path / "first.jsonl")
        refused, _ = ask(server)
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in files
    assert b"I got Bearer ***. Answer: A" in files
    assert KEY not in ended.out + ended.err + refused.out + refused.err
    assert "401: Bearer ***" in refused.err


def test_the_key_is_in_no_trace(tmp_path, monkeypatch):
    """Also when the program stops where nobody expects it, in a process that shows everything it can."""
    monkeypatch.setenv(servers.KEY_VARIABLE, KEY)
    monkeypatch.setenv("PYTHONFAULTHANDLER", "1")
    write_requests(tmp_path / "requests.jsonl", 2)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    words = ("judge", "run", tmp_path / "requests.jsonl", "-o", tmp_path / "a.jsonl", "--model", "m")
    for url in (
        "http://no.such.host.invalid/v1",
        f"http://user:{KEY}@127.0.0.1:1/v1?key={KEY}",
        "http://[bad",
    ):
        ended = run_apart(*words, "--url", url, options=("-X", "dev"))
        assert ended.code == 1
        assert KEY not in ended.out + ended.err
        assert "Traceback" not in ended.err


def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(ask, monkeypatch):
    """A line end in it, for example."""
    monkeypatch.setenv(servers.KEY_VARIABLE, "secret\nkey")
    with serving(lambda *_: completion("A")) as server:
        ended, _ = ask(server)
    assert "PREFCAL_JUDGE_KEY has a character that no key has; set it to the key alone" in ended.err
    assert "secret" not in ended.err
