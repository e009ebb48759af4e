"""Reading collections and runs of ranked lists: what is shown in which order, what is not and is said, every fault."""

from study_app.protocol.sides import Block
from study_app.tasks.ranked_pairs import RankedPairs
from study_app.tasks.reading.ranked_lists import read_ranked_content
from tests.study_app.small_ranked import QRELS, RUNS, TEXTS, TOPICS, WINDOWS, ranked_task, write_ranked_study


def read(folder, *, files=None, **task):
    """Return the content of the small study's task, and its faults as lines without the folder."""
    write_ranked_study(folder, files=files)
    faults = []
    content = read_ranked_content(folder, RankedPairs.model_validate(ranked_task(**task)), faults)
    assert (content is None) == bool(faults)
    return content, [str(fault).replace(f"{folder}/", "") for fault in faults]


def documents(content, topic, system):
    return [entry.id for entry in content.sides[topic, system].blocks]


def test_a_list_is_stored_ready_to_show(tmp_path):
    """Title and text with their common length, and the document's own window."""
    content, _ = read(tmp_path)
    assert content.sides["SYH-1", "sysalpha"].blocks[1] == Block(
        key="r2",
        id="SYD-2",
        kind="link",
        title="A car on the moon",
        text="It drove 28 km.",
        words=9,
        chars=24,
        window="1971",
    )


def test_a_query_has_the_windows_in_which_something_relevant_lies(tmp_path):
    """In the order of their names, each once; and the day on which it was asked, where that is known."""
    content, _ = read(tmp_path, files={"qrels.txt": "SYH-1 b SYD-2 1\n" + QRELS})
    assert [(topic.id, topic.text, topic.detail) for topic in content.topics] == [
        ("SYH-1", "moon landings", {"windows": ["1969", "1971"], "asked_at": "2015-06-01"}),
        ("SYH-2", "suez canal", {"windows": ["1869"]}),
    ]


def test_entries_stand_by_score_as_they_are_scored(tmp_path):
    """Neither the lines' order nor the ranks in the file matter."""
    content, _ = read(tmp_path)
    assert documents(content, "SYH-1", "sysbeta") == ["SYD-y", "SYD-n"]


def test_only_the_top_is_shown_and_nothing_moves_up_from_below_it(tmp_path):
    """What a measure at this depth does not count would be judged otherwise."""
    content, _ = read(tmp_path, depth=2)
    assert documents(content, "SYH-1", "sysalpha") == ["SYD-1", "SYD-2"]
    assert documents(content, "SYH-1", "sysbeta") == ["SYD-y"]


def test_what_nobody_will_see_is_noted(tmp_path):
    """Entries without a text, empty lists, entries without a window."""
    content, _ = read(tmp_path)
    assert content.notes == (
        "sysbeta, SYH-1: 1 of the first 3 entries have no text and are not shown",
        "sysbeta: 1 of 3 entries shown have no time window",
        "sysgamma, SYH-2: there is nothing to show; workers will find this list empty",
    )


def test_the_topics_file_says_which_judged_queries_are_asked(tmp_path):
    """In its order, names as text; what is in one file only is noted."""
    files = {"topics.tsv": "SYH-9\tnone\nSYH-2\tsuez canal\n", "sysgamma.txt": "SYH-2 Q0 SYD-3 1 1 t\n"}
    content, _ = read(tmp_path, files=files)
    assert [topic.id for topic in content.topics] == ["SYH-2"]
    assert documents(content, "SYH-2", "sysalpha") == ["SYD-3"]
    assert content.notes == (
        "topics.tsv: 1 of 2 topics are not judged, such as 'SYH-9' (did you mean 'SYH-1'?), and are not shown",
        "qrels.txt: 1 of 2 judged topics are not in topics.tsv, such as 'SYH-1', and are not shown",
    )


def test_every_fault_of_every_file_comes_out_at_once(tmp_path):
    """With its line and its cure; first those of the collection, then those of all runs."""
    files = {
        "topics.tsv": TOPICS + "SYH-3\n",
        "texts.tsv": TEXTS + "SYD-1\tagain\t\n",
        "qrels.txt": "SYH-1 a\n",
    }
    assert read(tmp_path, files=files)[1] == [
        "topics.tsv:3: 2 or 3 fields expected, got 1; write topic, text and, if it is known, asked_at, separated by tabs",
        "texts.tsv:6: duplicate document SYD-1; delete one of the two lines",
        "qrels.txt:1: 4 fields expected, got 2; write topic, subtopic, docid, grade, separated by white space",
    ]
    files = {
        "sysalpha.txt": "SYH-1 Q0 SYD-1 1 high t\n",
        "sysbeta.txt": RUNS["sysbeta"].replace("SYD-", "OTHER-"),
    }
    files |= {"topics.tsv": "SYH-8\tnone\n"}
    assert read(tmp_path, files=files)[1] == [
        "topics.tsv:1: none of these topics is judged; name topics as the judgments do, such as 'SYH-1'",
        "sysalpha.txt:1: score is no finite number: 'high'; write a decimal number such as 2.5",
        "sysbeta.txt:1: no entry of this run has a text in the collection; name a run about these topics, or a texts file with its documents",
    ]


def test_windows_by_the_calendar_are_days(tmp_path):
    """As the measures take timestamps when nothing else is asked for."""
    windows = "".join(f"{line}-07-20T20:17:40Z\n" for line in WINDOWS.splitlines())
    content, _ = read(tmp_path, files={"windows.txt": windows})
    assert content.topics[0].detail["windows"] == ["1969-07-20", "1971-07-20"]
