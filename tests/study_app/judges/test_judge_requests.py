"""What a judge is asked: all that people see of a pair, and nothing that they do not see."""

import base64
import io
import json
import re
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

import prefcal
from metrics.errors import InputError
from study_app.config import resource_folder
from study_app.estimate.content import read_whole_study
from study_app.judges.requests import RequestSize, make_requests, meanings, pair_digest, read_requests
from study_app.tasks.kinds import KINDS
from study_app.tasks.side_text import markdown
from tests.study_app import small_pictures
from tests.study_app.every_task import SECRETS, write_every_task
from tests.study_app.prefcal_command import run_here
from tests.study_app.small_ranked import SYSTEMS as RANKED
from tests.study_app.small_study import SYSTEMS as SUMMARIES

ANSWERS = Path(__file__).parents[3] / "examples" / "answers" / "study.yaml"
PAIRED = ("summary_pairs", "stream_pairs", "ranked_pairs")
PUSHERS = ("syspusha", "syspushb", "syspushc")


@pytest.fixture
def every(tmp_path):
    """Write a study with tasks of texts of every kind with pairs; return a function from changes of tasks to its requests."""

    def written(**changes):
        folder = tmp_path / f"study{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        path = write_every_task(folder, tasks={kind: changes.get(kind, {}) for kind in PAIRED})
        return list(make_requests(read_whole_study(path)))

    return written


def texts(requests):
    return [message["content"] for request in requests for message in request["messages"]]


def test_requests_name_no_system_and_nothing_that_only_the_tables_know(every):
    """Neither in the messages nor in ids, whatever the kind of task; people are not told either."""
    requests = every()
    assert {request["task"] for request in requests} == {"pairs", "pushes", "lists"}
    shown = "\n".join(texts(requests))
    assert [secret for secret in SECRETS if secret in shown] == []
    whole = json.dumps(requests)
    assert [name for name in (*SUMMARIES, *RANKED, *PUSHERS) if name in whole] == []


def test_each_pair_is_asked_in_both_orders_with_its_sides_exchanged():
    """Order 1 has the system whose name comes first as A."""
    study = read_whole_study(ANSWERS)
    requests = list(make_requests(study))
    by_pair = {(one["topic"], one["pair"], one["order"]): texts([one])[0] for one in requests}
    sides = {key: re.findall(r"<[AB]>\n(.*?)\n</[AB]>", text, re.DOTALL) for key, text in by_pair.items()}
    pairs = {(topic, pair) for topic, pair, _ in sides}

    assert len(requests) == 18
    assert all(sides[*pair, 1] == sides[*pair, 2][::-1] for pair in pairs)
    brief = next(line for line in (ANSWERS.parent / "systems/brief.tsv").read_text().splitlines())
    topic, text = brief.split("\t")
    assert sides[topic, pair_digest("answers", topic, "cited", "brief"), 1][0] == text


def test_a_pair_is_named_by_a_digest_that_whoever_knows_the_systems_computes_again():
    """So `import` finds the two systems of each request, and nobody else does."""
    requests = list(make_requests(read_whole_study(ANSWERS)))
    systems = ("cited", "outline", "brief", "passage")
    known = {
        pair_digest("answers", topic, one, other): (one, other)
        for topic in ("leaves", "smallpox")
        for one, other in combinations(systems, 2)
    }
    assert {request["pair"] for request in requests} <= set(known)
    assert (
        pair_digest("t", "q", "a", "b") == pair_digest("t", "q", "b", "a") != pair_digest("t", "q", "a", "c")
    )


def test_ids_are_the_same_each_time_and_others_for_another_prompt_or_text(tmp_path):
    """An answer can never be taken for one to another prompt."""
    study = read_whole_study(ANSWERS)
    first = [request["id"] for request in make_requests(study, samples=2)]
    prompt = tmp_path / "mine.jinja"
    prompt.write_text("{{ a }} or {{ b }}?")
    other = list(make_requests(study, samples=2, prompt=prompt))

    assert first == [request["id"] for request in make_requests(study, samples=2)]
    assert len(set(first)) == len(first) == 36
    assert not set(first) & {request["id"] for request in other}
    assert {request["prompt_sha256"] for request in other} != {
        request["prompt_sha256"] for request in make_requests(study)
    }


def test_one_order_is_drawn_by_the_pair_and_both_come_up():
    """The first named system must not always stand first."""
    requests = list(make_requests(read_whole_study(ANSWERS), orders="one"))
    assert len(requests) == 9
    assert {request["order"] for request in requests} == {1, 2}


def test_what_people_see_is_in_the_message(every):
    """Topic, criteria, sides, the question; days of pushes with their times, quiet ones too."""
    requests = every(stream_pairs={"reveal_silent_days": True})
    pushes = "\n".join(texts(one for one in requests if one["task"] == "pushes"))
    lists = "\n".join(texts(one for one in requests if one["task"] == "lists"))

    assert "Wanted: tram works" in pushes
    assert "Mon 20 Jul 2015\n09:01 Rails are laid at the market" in pushes
    assert "There was no news on this topic on this day.\nNo notifications on this day" in pushes
    assert "Which notifications would you rather have had?" in pushes
    assert "Think of" not in pushes
    assert re.search(r"<A>\n1\. ", lists)
    assert "Answer: equally_bad" in lists


def test_silent_days_that_are_revealed_at_random_are_not_revealed_to_a_judge(every):
    """It is in no group."""
    assert "There was no news" not in "\n".join(texts(every()))


def test_instructions_of_the_study_are_in_the_message(tmp_path):
    """Those of its own; prefcal's standard ones speak of pages."""
    text = ANSWERS.read_text(encoding="utf-8").replace(
        "instructions: standard ", "instructions: Judge as a botanist would. "
    )
    path = ANSWERS.parent / "study.yaml"
    (tmp_path / "study.yaml").write_text(
        text.replace("collection/", f"{path.parent}/collection/").replace(
            "systems/", f"{path.parent}/systems/"
        )
    )
    assert all(
        "Judge as a botanist would." in text
        for text in texts(make_requests(read_whole_study(tmp_path / "study.yaml")))
    )


def test_pictures_are_parts_of_the_message_without_what_tells_their_maker(tmp_path):
    """As data URLs, in the order of the sides."""
    path = small_pictures.write_picture_study(tmp_path)
    requests = list(make_requests(read_whole_study(path)))
    parts = requests[0]["messages"][0]["content"]
    pictures = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    bytes_ = [base64.b64decode(url.removeprefix("data:image/png;base64,")) for url in pictures]

    assert [part["type"] for part in parts] == ["text", "image_url", "text", "image_url", "text"]
    assert parts[0]["text"].endswith("<A>")
    assert [Image.open(io.BytesIO(data)).size for data in bytes_] == [(120, 80)] * 2
    assert all(small_pictures.MAKER.encode() not in data for data in bytes_)
    assert [
        name for name in (*small_pictures.SYSTEMS, small_pictures.MAKER) if name in json.dumps(requests)
    ] == []
    size = RequestSize()
    size.add(requests[0]["messages"])
    assert "2 pictures" in str(size)


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS.values() if kind.side is not None], ids=lambda kind: kind.name
)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_kind_with_pairs_has_a_prompt_in_each_language(kind, language):
    """With both sides as a judge of one's own finds them."""
    text = (resource_folder("templates") / "judge" / f"{kind.name}.{language}.jinja").read_text(
        encoding="utf-8"
    )
    assert "<A>\n{{ a }}\n</A>" in text
    assert "<B>\n{{ b }}\n</B>" in text


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("{{ a }} {{ b", "the prompt cannot be used: "),
        ("{{ a }}", "it does not show b, the two sides"),
        ("{{ a }} {{ b }} {{ system_left }}", "it names system_left, which no pair has"),
        (
            "{{ a }} {{ b }} {{ ''.__class__.__mro__ }}",
            "access to attribute '__class__' of 'str' object is unsafe",
        ),
        ("{{ a }} {{ b }} {% include 'away.html' %}", "no loader for this environment specified"),
        ("{{ a }} {{ b }} {{ 1 / 0 }}", "division by zero"),
        ("{{ a }} {{ b }} {% for i in range(10000000) %}{% endfor %}", "range too big"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_one_line(tmp_path, monkeypatch, capsys, prompt, said):
    """And no file of requests is left."""
    path = tmp_path / "mine.jinja"
    path.write_text(prompt)
    out = tmp_path / "requests.jsonl"
    ended = run_here(monkeypatch, capsys, "judge", "requests", ANSWERS, "-o", out, "--prompt", path)
    assert ended.code == 1
    assert said.lower() in ended.err.lower()
    assert ended.err.count("\n") == 1
    assert not out.exists()


def test_a_prompt_must_leave_pictures_as_they_are(tmp_path):
    """A filter would break what stands for them."""
    path = small_pictures.write_picture_study(tmp_path)
    (tmp_path / "mine.jinja").write_text("{{ a | upper }} {{ b }}")
    with pytest.raises(InputError, match="changes what stands for a picture"):
        list(make_requests(read_whole_study(path), prompt=tmp_path / "mine.jinja"))


def test_a_study_without_pairs_is_refused(tmp_path):
    """Nobody can be asked anything."""
    path = write_every_task(tmp_path, tasks={"questions": {}})
    with pytest.raises(InputError, match="no task with pairs"):
        list(make_requests(read_whole_study(path)))


def test_only_pairs_that_people_judged_are_asked_about(tmp_path, monkeypatch, capsys):
    """In whichever order the systems stood there; a judge's own rows do not count."""
    votes = pd.DataFrame(
        {
            "worker": ["w1", "w2", "m"],
            "task": "answers",
            "topic": ["leaves", "leaves", "smallpox"],
            "system_left": ["outline", "brief", "brief"],
            "system_right": ["brief", "outline", "cited"],
            "choice": "left",
        }
    )
    workers = pd.DataFrame({"worker": ["w1", "w2", "m"], "kind": ["human", None, "model"]})
    prefcal.write_tables({"preferences": votes, "workers": workers}, tmp_path / "tables")
    out = tmp_path / "requests.jsonl"
    options = ("--pairs", "judged", "--tables", tmp_path / "tables")
    ended = run_here(monkeypatch, capsys, "judge", "requests", ANSWERS, "-o", out, *options)

    assert ended.code == 0
    assert {(one.topic, one.pair) for one in read_requests(out).requests.values()} == {
        ("leaves", pair_digest("answers", "leaves", "brief", "outline"))
    }
    other = votes.assign(task="others")
    prefcal.write_tables({"preferences": other}, tmp_path / "other")
    options = ("--pairs", "judged", "--tables", tmp_path / "other")
    ended = run_here(monkeypatch, capsys, "judge", "requests", ANSWERS, "-o", tmp_path / "none", *options)
    assert ended.code == 1
    assert "no pair of the study is in table preferences; give the tables of this study" in ended.err


def test_the_command_writes_what_python_returns_and_says_how_much_it_is(tmp_path, monkeypatch, capsys):
    """The same requests; the line at the end counts them."""
    out = tmp_path / "requests.jsonl"
    ended = run_here(monkeypatch, capsys, "judge", "requests", ANSWERS, "-o", out, "--samples", "3")
    requests = prefcal.judge_requests(ANSWERS, samples=3)

    assert [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] == requests
    characters = sum(len(text) for text in texts(requests))
    assert ended.out == f"{out}: 54 requests: {characters:,} characters, about {characters / 4:,.0f} tokens\n"


@pytest.fixture
def graded(tmp_path):
    """Write a study with graded answers, a criterion that is shown and one that is asked, and a gold pair."""
    asked = [{"name": "correct", "text": "Which is more correct?"}]
    changes = {"choices": "graded7", "criteria": ["Mind the gap.", *asked], "gold_pairs": "gold.tsv"}
    (tmp_path / "gold.tsv").write_text("SYQ-1\tsysalpha\tsysbeta\tsysbeta\n")
    return write_every_task(tmp_path, tasks={"summary_pairs": changes})


def test_a_judge_of_a_graded_study_is_asked_for_grades_and_criteria(graded):
    """As people are, in their words; gold pairs are for people."""
    requests = prefcal.judge_requests(graded)
    assert len(requests) == 2 * (6 - 1)
    for request, text in zip(requests, texts(requests), strict=True):
        assert request["criteria"] == ["correct"]
        assert request["choices"][:4] == ["A_much_better", "A_better", "A_slightly_better", "about_the_same"]
        assert meanings(request["choices"])["B_better"] == ("right", 2)
        assert "Answer: B_much_better" in text
        assert "- correct: Which is more correct?" in text
        assert text.endswith("Criterion correct: …")
    five = ("A_much_better", "about_the_same")
    assert meanings(five)["A_much_better"] == ("left", 2)
    assert "criteria" not in prefcal.judge_requests(ANSWERS)[0]


def test_a_prompt_that_names_no_grades_and_criteria_asks_for_the_side_and_a_note_says_so(
    graded, tmp_path, monkeypatch, capsys
):
    """Answers that the prompt does not offer would all be unusable."""
    prompt, out = tmp_path / "mine.jinja", tmp_path / "out.jsonl"
    prompt.write_text("{{ a }} {{ b }} Answer: A, B, equally_good or equally_bad?")
    ended = run_here(monkeypatch, capsys, "judge", "requests", graded, "-o", out, "--prompt", prompt)
    said = "does not name choices and asked: a judge of pairs is not asked for grades and criteria, as people are"
    assert said in ended.err
    assert {(one.choices, one.criteria) for one in read_requests(out).requests.values()} == {
        (("A", "B", "equally_good", "equally_bad"), ())
    }


def test_japanese_counts_a_token_a_character():
    """Four characters a token would be three times too few."""
    size = RequestSize()
    size.add([{"role": "user", "content": "abcd木の葉"}])
    assert size.tokens == 4


@pytest.mark.parametrize(
    "line",
    ["nonsense", "[]", '{"id": "a"}', '{"id": 1, "task": "t"}', "[" * 100_000],
    ids=["no JSON", "list", "half", "number", "deep"],
)
def test_a_file_that_holds_no_requests_is_refused_with_its_line(tmp_path, line):
    """It may be a file of answers."""
    good = json.dumps(prefcal.judge_requests(ANSWERS)[0])
    path = tmp_path / "requests.jsonl"
    path.write_text(f"{good}\n{line}\n")
    with pytest.raises(
        InputError, match=r"requests\.jsonl:2: no request; write the file with prefcal judge requests"
    ):
        read_requests(path)
    path.write_text(f"{good}\n{good}\n")
    with pytest.raises(InputError, match=r"requests\.jsonl:2: duplicate request \w+"):
        read_requests(path)
    path.write_text("")
    with pytest.raises(InputError, match="there are no requests"):
        read_requests(path)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a <strong>b</strong> <em>c</em> <code>d</code><br>e &lt;f&gt;</p>", "a **b** *c* `d`\ne <f>"),
        ("<h3>Big</h3>", "# Big"),
        (
            '<ol start="3"><li>x<ul><li>y</li></ul></li><li><p>z</p><p>w</p></li></ol>',
            "3. x\n   - y\n4. z\n   w",
        ),
        ("<blockquote><p>q</p><p>r</p></blockquote>", "> q\n> \n> r"),
        ("<pre><code>x = 1\n  y\n</code></pre>", "```\nx = 1\n  y\n```"),
        (
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1|2</td><td>3</td></tr></tbody></table>",
            "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |",
        ),
        ('<p>see <a class="cited" href="#side:f1">[1]</a>.</p>', "see [1]."),
        ("text before<p>p</p>between<hr>after", "text before\n\np\n\nbetween\n\n---\n\nafter"),
    ],
)
def test_formatted_text_becomes_markdown(html, text):
    """As the model that wrote it may have written it."""
    assert markdown(html) == text


def test_a_file_of_another_kind_is_one_fault_with_its_count(tmp_path):
    """Not one for each of its lines."""
    path = tmp_path / "votes.csv"
    path.write_text("topic,left,right\n" * 50)
    with pytest.raises(InputError) as raised:
        read_requests(path)
    assert str(raised.value).count("\n") == 0
    assert "no request (and 49 faults more of this kind)" in str(raised.value)
