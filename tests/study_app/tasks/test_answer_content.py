"""`answer_pairs` reads questions and answers, and shows texts as blocks from which nothing leads out."""

import json
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from metrics.answers.judged import AnswerSentence
from metrics.errors import InputError
from metrics.readers.answers import read_answers
from metrics.readers.texts import read_document_texts, read_ranked_topics
from study_app.estimate.content import read_whole_study
from study_app.study_new.recognise import recognise
from study_app.tasks.answer_pairs import shown_answer
from study_app.tasks.reading.answers import marked_blocks, words_of

SOURCE = {"label": "1", "title": "A book", "text": "It says so.", "url": "https://example.org"}


def write(folder, *, systems, pairs=None):
    """Write a study of two questions; ``systems`` are lists of answers, or the text of a file."""
    (folder / "topics.tsv").write_text("Q1\tWhat is a tram?\nQ2\tWhat is a ferry?\n", encoding="utf-8")
    for name, answers in systems.items():
        text = answers if isinstance(answers, str) else "".join(json.dumps(one) + "\n" for one in answers)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    task = {
        "kind": "answer_pairs",
        "collection": {"topics": "topics.tsv"},
        "systems": {name: f"{name}.jsonl" for name in systems},
    }
    if pairs is not None:
        (folder / "pairs.txt").write_text(pairs)
        task["pairs"] = "pairs.txt"
    whole = {"study": "small", "title": "Small", "consent": "Please.", "tasks": [task]}
    (folder / "study.yaml").write_text(yaml.safe_dump(whole, sort_keys=False))
    return folder / "study.yaml"


def read(folder, **what):
    """Return the content of the only task."""
    return read_whole_study(write(folder, **what)).tasks[0]


def test_judgments_of_a_topic_that_there_is_not_are_noted(tmp_path):
    """Said as `prefcal score answers` says it; the file may have `tide` for `tides`."""
    answers = [{"topic": topic, "text": "It runs.", "citations": []} for topic in ("Q1", "Q2")]
    path = write(tmp_path, systems={"a": answers, "b": answers})
    judged = [
        {
            "qid": topic,
            "run_id": run,
            "nuggets": [{"text": "x", "importance": "vital", "assignment": "support"}],
        }
        for run in "ab"
        for topic in ("Q1", "Q2", "Q3")
    ]
    (tmp_path / "nuggets.jsonl").write_text("".join(json.dumps(each) + "\n" for each in judged))
    path.write_text(
        path.read_text().replace("topics: topics.tsv", "topics: topics.tsv\n    nuggets: nuggets.jsonl")
    )

    (note,) = read_whole_study(path).tasks[0].notes
    assert re.fullmatch(
        r"1 of 3 topics is judged in .*nuggets\.jsonl and not among the topics, such as 'Q3', and is left out",
        note,
    )


def faults(folder, **what):
    """Return the faults of a study, without the folder."""
    with pytest.raises(InputError) as caught:
        read(folder, **what)
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


PLAIN = "Q1\tA vehicle.\nQ2\tA ship.\n"


def test_a_system_that_answers_only_some_questions_is_in_their_pairs(tmp_path):
    """And a question that fewer than two answer is not shown, with a note."""
    content = read(tmp_path, systems={"a": PLAIN, "b": "Q1\tOn rails.\n", "c": "Q1\tRed.\n"})
    assert dict(content.system_pairs) == {"Q1": (("a", "b"), ("a", "c"), ("b", "c"))}
    assert [topic.id for topic in content.topics] == ["Q1"]
    assert content.notes == (
        "b: no answer to 1 topic of 2: Q2",
        "c: no answer to 1 topic of 2: Q2",
        "1 topic without a pair, not shown: Q2",
    )


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ('{"text": "x"}\n', "a.jsonl:1: the answer has no topic; write"),
        ('{"topic": "", "text": "x"}\n', "a.jsonl:1: an answer without a topic; say which question it answers"),
        ("Q1\tx\nQ9\ty\n", "a.jsonl:2: there is no topic Q9; add it to topics.tsv, or delete the answer"),
        ("Q1\tx\nQ1\ty\n", "a.jsonl:2: topic Q1 is answered twice; delete one of the two lines"),
        ("Q1\t\n", "a.jsonl:1: the answer to topic Q1 is empty; write one, or delete it"),
        ("Q1\n", "a.jsonl:1: 2 fields expected, got 1; write topic, text, separated by tabs"),
        (
            "Q1\tx\nQ2 A ship.\n",
            "a.jsonl:2: expected tabs between the fields, found only blanks; write topic, text, separated by tabs",
        ),
        (
            "Q1 A tram.\nQ2 A ship.\n",
            "a.jsonl:1: expected tabs between the fields, found only blanks in any line; write topic, text, separated by tabs",
        ),
        ('{"topic": "Q1",\n', "a.jsonl:1: the line is not JSON; write"),
        ('{"topic": "Q1", "text": 3}\n', "a.jsonl:1: text of the answer is no text; write it in quotes"),
        ('{"topic": "Q1", "text": "x", "citation": []}\n', "a.jsonl:1: the answer has 'citation', which is not known; did you mean 'citations'?"),
        ('{"topic": "Q1", "text": "x", "citations": [{"label": "1", "title": "t"}]}\n', "a.jsonl:1: a citation has no text; write"),
        (
            [{"topic": "Q1", "text": "x [1] [2] [sic]", "citations": [SOURCE]}],
            "a.jsonl:1: the answer to topic Q1 cites [2], which is not among its citations; add it there",
        ),
        ([{"topic": "Q1", "text": "x", "citations": [SOURCE, SOURCE]}], "a.jsonl:1: duplicate label '1'; give"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_answers_is_one_line_with_place_and_cure(tmp_path, answers, said):
    """Nothing is passed over in silence."""
    [fault] = faults(tmp_path, systems={"a": answers, "b": PLAIN})
    assert fault.startswith(said)


def test_a_character_that_no_page_can_show_is_refused_and_breaks_no_reader(tmp_path):
    """Such as one that stands first in a text, which a reader of HTML would not take."""
    [said] = faults(tmp_path, systems={"a": [{"topic": "Q1", "text": "\x01It is a vehicle."}], "b": PLAIN})
    assert (
        "what a shows of topic Q1 has a character that no page can show (U+0001); take it out of a.jsonl"
        in said
    )


def test_html_and_scripts_are_text(tmp_path):
    """What a system wrote is shown as it wrote it, and never run."""
    evil = '<script>alert(1)</script> <img src=x onerror="alert(1)">'
    content = read(tmp_path, systems={"a": [{"topic": "Q1", "text": evil}], "b": PLAIN})
    [block] = content.sides["Q1", "a"].blocks
    assert "<script" not in block.html
    assert "<img" not in block.html
    assert block.text == evil


def test_links_and_images_lead_nowhere():
    """A link is its words with the address, an image its description."""
    text = "See [the page](https://example.org/a), <https://example.org> and ![a tram](http://x/y.png)."
    [block] = marked_blocks(text, ())
    assert block.html({}) == "<p>See the page (https://example.org/a), https://example.org and a tram.</p>"


def test_blocks_are_paragraphs_headings_tables_code_and_items_of_lists():
    """Each has its own time on the screen."""
    text = "# Title\n\nOne *two*.\n\n- a\n- b\n  - c\n\n1. d\n\n|x|y|\n|-|-:|\n|1|2|\n\n```py\ncode [1]\n```\n\n> said\n"
    blocks = marked_blocks(text, {"1"})
    assert [words_of(block.html({})) for block in blocks] == [
        *("Title", "One two.", "a", "b c", "d", "x y 1 2", "code [1]", "said")
    ]
    assert [block.place.tag if block.place else "" for block in blocks] == [
        "",
        "",
        "ul",
        "ul",
        "ol",
        "",
        "",
        "",
    ]
    assert blocks[0].html({}) == "<h3>Title</h3>"
    assert "style" not in blocks[5].html({})


def test_a_source_stands_below_the_block_that_cites_it(tmp_path):
    """Its line is a link with a layer; what nothing cites stands at the end; keys are those of the page."""
    other = {**SOURCE, "label": "B", "title": ""}
    answer = {"topic": "Q1", "text": "So it is [1][1].\n\nAnd no more.", "citations": [SOURCE, other]}
    shown = read(tmp_path, systems={"a": [answer], "b": PLAIN}).sides["Q1", "a"]
    items = shown.items("en")
    assert [(item.key, item.id, item.kind, item.layer) for item in items] == [
        ("f0", "b1", "iunit", None),
        ("f1", "b1:1", "link", None),
        ("s1.0", "b1:1:text", "iunit", "f1"),
        ("f2", "b2", "iunit", None),
        ("f3", "end:B", "link", None),
        ("s3.0", "end:B:text", "iunit", "f3"),
    ]
    [run] = shown_answer(shown)
    assert [[source.text for source in part.sources] for part in run.parts] == [["[1] A book"], ["[B]"]]
    assert 'href="#left-f1">[1]</a>' in run.parts[0].html("left")


SOURCES = [{**SOURCE, "label": str(number)} for number in range(1, 5)]


@pytest.mark.parametrize(
    ("written", "shown", "cited"),
    [
        ("So [1].", "So [1].", "1"),
        ("So [ 1 ].", "So [1].", "1"),
        ("So [1,2].", "So [1, 2].", "12"),
        ("So [1, 2].", "So [1, 2].", "12"),
        ("So [2;1].", "So [2, 1].", "21"),
        ("So [1-3].", "So [1, 2, 3].", "123"),
        ("So [1–2, 4].", "So [1, 2, 4].", "124"),
        ("So [1][2].", "So [1][2].", "12"),
        ("So [1][2-3] and [4].", "So [1][2, 3] and [4].", "1234"),
        ("So [3-1].", "So [3-1].", ""),
        ("So [sic].", "So [sic].", ""),
        ("So `[1, 2]`.", "So [1, 2].", ""),
    ],
)
def test_lists_and_ranges_of_marks_are_links_as_one_mark_is(tmp_path, written, shown, cited):
    """Each source that they name has its link and its line, in the order in which they name it."""
    answer = {"topic": "Q1", "text": written, "citations": SOURCES}
    [run] = shown_answer(read(tmp_path, systems={"a": [answer], "b": PLAIN}).sides["Q1", "a"])
    block = run.parts[0]
    assert words_of(block.html("left")) == shown
    links = re.findall(r'<a class="cited" href="#left-(f\d+)">\[?(\d)\]?</a>', block.html("left"))
    assert "".join(label for _, label in links) == cited
    lines = {source.key: source.text for source in block.sources}
    assert [lines[key] for key, _ in links] == [f"[{label}] A book" for label in cited]


@pytest.mark.parametrize("written", ["[1-3]", "[1, 2]", "[2;1]"])
def test_a_source_in_a_list_that_is_not_given_is_a_fault_as_a_single_one_is(tmp_path, written):
    """Its number is named."""
    answer = {"topic": "Q1", "text": f"So {written}.", "citations": [SOURCE, {**SOURCE, "label": "3"}]}
    [fault] = faults(tmp_path, systems={"a": [answer], "b": PLAIN})
    assert fault.startswith(
        "a.jsonl:1: the answer to topic Q1 cites [2], which is not among its citations; add"
    )


@pytest.mark.parametrize(
    "written", ["[^1]", "[Doc 1]", "[1†L3]", "【1】", "［1］", "(1)", "¹", "[3-1]", "[8, 9]", "[1-300]"]
)
def test_what_looks_like_a_mark_and_is_none_is_noted(tmp_path, written):
    """It is shown as it is written, and leads nowhere."""
    answer = {"topic": "Q1", "text": f"So. {written}", "citations": [SOURCE]}
    content = read(tmp_path, systems={"a": [answer], "b": "Q1\tA vehicle.\n", "c": "Q2\tA ship.\n"})
    assert (
        f"a: marks such as {written} that match no citation in 1 answer, shown as text: Q1" in content.notes
    )


@pytest.mark.parametrize("written", ["[sic]", "(2)", "10 m²", "`[^1]`", "(in 1977)", "[1]", "no mark"])
def test_what_no_reader_takes_for_a_mark_is_not_noted(tmp_path, written):
    """Numbers that count something else, powers, code."""
    answer = {"topic": "Q1", "text": f"So {written}", "citations": [SOURCE]}
    notes = read(tmp_path, systems={"a": [answer], "b": PLAIN}).notes
    assert [note for note in notes if "marks such as" in note] == []


@pytest.mark.parametrize("written", ["[1]", "[1, 2]", "[1-3]"])
def test_marks_in_an_answer_without_citations_are_noted(tmp_path, written):
    """Also in lists and ranges; they are text."""
    systems = {"a": [{"topic": "Q1", "text": f"So {written} [sic]"}], "b": PLAIN}
    assert (
        f"a: marks such as {written} without citations in 1 answer, shown as text: Q1"
        in read(tmp_path, systems=systems).notes
    )


def test_a_label_may_have_a_comma(tmp_path):
    """In a list of such labels a semicolon is between two."""
    given = [{**SOURCE, "label": label} for label in ("Ito, 2020", "Sato, 2019")]
    answer = {"topic": "Q1", "text": "So [Ito, 2020; Sato, 2019].", "citations": given}
    [run] = shown_answer(read(tmp_path, systems={"a": [answer], "b": PLAIN}).sides["Q1", "a"])
    assert words_of(run.parts[0].html("left")) == "So [Ito, 2020; Sato, 2019]."
    assert len(run.parts[0].sources) == 2


def test_a_file_of_pairs_says_exactly_which_are_judged(tmp_path):
    """White space or tabs; the order of the two does not matter; a topic without a line is not shown."""
    content = read(tmp_path, systems=dict.fromkeys("abc", PLAIN), pairs="topic a b\nQ1 c a\nQ1\tb\tc\n")
    assert dict(content.system_pairs) == {"Q1": (("a", "c"), ("b", "c"))}
    assert content.files["pairs"].path == "pairs.txt"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Q3 a b", "there is no topic Q3; known here: Q1, Q2"),
        ("Q1 a d", "there is no system d; known here: a, b, c"),
        ("Q2 a c", "c shows nothing of topic Q2; delete the line, or add to the system's file"),
        ("Q1 a a", "a is paired with itself; name two systems"),
        ("Q1 b a", "duplicate couple a and b of topic Q1; delete one of the two lines"),
        ("Q1 a", "3 fields expected, got 2; write topic, a, b, separated by white space"),
    ],
)
def test_a_pair_that_there_is_not_is_one_line_with_place_and_cure(tmp_path, line, said):
    """The second line of the file."""
    systems = {"a": PLAIN, "b": PLAIN, "c": "Q1\tx\n"}
    assert faults(tmp_path, systems=systems, pairs=f"Q1 a b\n{line}\n") == [f"pairs.txt:2: {said}"]


TURNS = {
    "run_name": "r",
    "turns": [
        {"turn_id": "Q1", "responses": [
            {"rank": 2, "text": "Worse.", "passage_provenance": []},
            {"rank": 1, "text": "On rails.", "passage_provenance": [{"id": "p1", "text": "Rails.", "used": True}, {"id": "p2", "text": "Sea.", "used": False}]},
        ]},
    ],
}  # fmt: skip


def test_turns_of_a_conversation_are_answers(tmp_path):
    """TREC iKAT: the first response of each, what it used behind it."""
    content = read(tmp_path, systems={"a": json.dumps(TURNS, indent=1), "b": PLAIN})
    block, source = content.sides["Q1", "a"].blocks
    assert block.text == "On rails. [1]"
    assert (source.text, source.inside[0].text) == ("[1]", "Rails.")


def test_texts_of_documents_that_a_track_file_brings_are_shown(tmp_path):
    """A mark that the sentence has already stands for the place that it cites."""
    answer = {
        "topic_id": "Q1",
        "references": [{"docid": "d1", "title": "A book", "segment": "It says so."}, "d2"],
        "documents": {"d2": {"id": "d2", "text": "It does not."}},
        "answer": [{"text": "A vehicle [1].", "citations": [0]}, {"text": "So.", "citations": ["1"]}],
    }
    content = read(tmp_path, systems={"a": [answer], "b": PLAIN})
    block, first, second = content.sides["Q1", "a"].blocks
    assert block.text == "A vehicle [1]. So. [2]"
    assert [(one.text, one.inside[0].text) for one in (first, second)] == [
        ("[1] A book", "It says so."),
        ("[2]", "It does not."),
    ]


@pytest.mark.parametrize(
    ("sentences", "shown", "cited"),
    [
        ([("So [1].", [0]), ("No [2][3].", [1, 2])], "So [1]. No [2][3].", "abc"),
        ([("So [1,3].", [0])], "So [1][2].", "ac"),
        ([("So [0-1].", [0])], "So [1][2].", "ab"),
        ([("So [3].", []), ("No [1].", [])], "So [1]. No [2].", "ca"),
        ([("So [b] and [c, a].", [])], "So [1] and [2][3].", "bca"),
        ([("So [b].", [1, 0])], "So [1]. [2]", "ba"),
        ([("So [1].", [0]), ("In [2024].", [1])], "So [1]. In [2024]. [2]", "ab"),
        ([("So [1].", [])], "So [1].", ""),
        ([("So [1] or [2].", [0]), ("No [2].", [0])], "So [1] or [2]. [3] No [2]. [3]", "a"),
        ([("So [sic].", [0])], "So [sic]. [1]", "a"),
        ([("So.", [0]), ("And so.", [0, 2])], "So. [1] And so. [1][2]", "ac"),
    ],
)
def test_marks_in_sentences_of_a_track_are_links_once(tmp_path, sentences, shown, cited):
    """Counted from 0 or 1, as the run itself shows, or by id; what neither tells is text, whose numbers no source gets."""
    answer = {
        "topic_id": "Q1",
        "references": ["a", "b", "c"],
        "answer": [{"text": text, "citations": given} for text, given in sentences],
    }
    content = read(tmp_path, systems={"a": [answer], "b": PLAIN})
    block, *sources = content.sides["Q1", "a"].blocks
    assert block.text == shown
    assert [source.inside[0].text for source in sources] == list(cited)
    if not cited:
        assert any("marks such as [1]" in note for note in content.notes)


def test_marks_are_counted_alike_in_all_answers_of_a_run(tmp_path):
    """One answer shows from where; words and sentences that cite are counted without the marks."""
    answers = [
        {"topic_id": topic, "references": ["a", "b"], "answer": [{"text": text, "citations": given}]}
        for topic, text, given in (("Q1", "So it is [2].", [1]), ("Q2", "No [1].", []))
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    answered = read_answers(tmp_path / "a.jsonl")
    assert [answer.citations[0].text for answer in answered.values()] == ["b", "a"]
    assert [sentence for answer in answered.values() for sentence in answer.sentences()] == [
        AnswerSentence(text="So it is.", is_cited=True),
        AnswerSentence(text="No.", is_cited=True),
    ]


def test_a_citation_of_no_reference_is_a_fault(tmp_path):
    """Places are counted from 0."""
    answer = {"topic_id": "Q1", "references": ["d1"], "answer": [{"text": "So.", "citations": [1]}]}
    assert faults(tmp_path, systems={"a": [answer], "b": PLAIN}) == [
        (
            "a.jsonl:1: the answer to topic Q1 cites 1, and there is 1 reference, counted from 0; add it to the references, or take "
            "the citation out"
        )
    ]


def test_an_object_of_another_form_names_its_members(tmp_path):
    """So that one sees which tool wrote it."""
    [said, *others] = faults(tmp_path, systems={"a": [{"prompt": "Q1", "completion": "x"}], "b": PLAIN})
    assert said.startswith(
        "a.jsonl:1: the answer has 'prompt', which is not known; known here: topic, text, citations"
    )
    assert others


MEMBERS = st.sampled_from(
    ["topic_id", "metadata", "answer", "responses", "references", "documents", "citations", "text", "title", "turns", "turn_id",
     "passage_provenance", "rank", "id", "topic", "used"]
)  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.sampled_from(["Q1", "", "[1]", "\ud800", " "]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(MEMBERS, VALUES, max_size=6), min_size=1, max_size=2))
def test_any_members_give_answers_or_clean_faults(tmp_path_factory, objects):
    """A tool may write what it likes; every fault has its line."""
    path = tmp_path_factory.mktemp("answers") / "given.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    for read_file in (read_answers, read_ranked_topics, read_document_texts):
        assert all(fault.path and fault.line for fault in faults_of(read_file, path))
    assert recognise(path).path == path


def faults_of(read_file, path):
    """Return the faults of a file, none where it is read."""
    try:
        read_file(path)
    except InputError as error:
        return error.faults
    return ()


def test_systems_that_answer_different_questions_are_no_study(tmp_path):
    """There is nothing to compare."""
    assert faults(tmp_path, systems={"a": "Q1\tA vehicle.\n", "b": "Q2\tA ship.\n"}) == [
        "study.yaml:6: no two systems show anything of one topic; give two systems or more the same topics"
    ]
