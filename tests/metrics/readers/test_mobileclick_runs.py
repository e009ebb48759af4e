"""Runs of two-layered summaries: what is read, and what is said about each thing that is wrong."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metrics.errors import InputError
from metrics.readers.mobileclick import read_summary_collection
from metrics.readers.mobileclick_runs import read_summary_run
from metrics.summaries.two_layered import IUnit, Link, Summary
from tests.metrics.fault_places import is_placed
from tests.metrics.two_layered_files import RUN, write_collection, write_run


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return read_summary_collection(write_collection(tmp_path_factory.mktemp("collection")))


def faults_of(folder, text, collection):
    path = write_run(folder, text)
    with pytest.raises(InputError) as caught:
        read_summary_run(path, collection)
    return [str(fault).removeprefix(f"{path}:") for fault in caught.value.faults]


def test_a_run_is_read_in_reading_order(tmp_path, collection):
    """Order within a layer is what the measures are about."""
    run = read_summary_run(write_run(tmp_path, name="mine.xml"), collection)
    assert (run.name, run.description) == ("mine", "a run by hand")
    assert run.summaries["Q1"] == Summary(first=(IUnit("U1"), Link("I2")), second={"I2": (IUnit("U3"),)})
    assert run.summaries["Q2"] == Summary(first=(IUnit("U4"), Link("I3")), second={"I3": ()})


def test_a_link_may_occur_twice_and_an_iunit_anywhere(tmp_path, collection):
    """The measures state what repeats cost, so repeats are no faults."""
    text = RUN.replace('<link iid="I2"/>', '<link iid="I2"/><link iid="I2"/><iunit uid="U3"/>')
    summary = read_summary_run(write_run(tmp_path, text), collection).summaries["Q1"]
    assert summary.first == (IUnit("U1"), Link("I2"), Link("I2"), IUnit("U3"))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "</results>",
            "",
            "21: the XML is not well formed (<results> of line 2 is not closed); mend the markup here",
        ),
        ("<results>", "<!DOCTYPE results>\n<results>", "2: a DOCTYPE is not allowed; delete it"),
        ("results>", "runs>", "2: the outermost tag is <runs>; write <results>"),
        (
            "  <sysdesc>a run by hand</sysdesc>\n",
            "",
            "2: <results> has no <sysdesc>; add <sysdesc>...</sysdesc>",
        ),
        ("<sysdesc>", "<sysdesc/><sysdesc>", "3: a second <sysdesc> in <results>; delete one of the two"),
        (
            "sysdesc>",
            "about>",
            "3: unknown tag <about> in <results>; only <sysdesc> or <result> can stand there",
        ),
        (
            '<iunit uid="U1"/>',
            "<b/>",
            "6: unknown tag <b> in <first>; only <iunit> or <link> can stand there",
        ),
        (
            '<iunit uid="U3"/>',
            '<link iid="I2"/>',
            "10: unknown tag <link> in <second>; only <iunit> can stand there",
        ),
        ('<iunit uid="U1"/>', "<iunit/>", '6: <iunit> has no attribute uid; write <iunit uid="...">'),
        ('uid="U1"', 'uidd="U1"', "6: <iunit> has no attribute uid; rename uidd to uid"),
        ('uid="U1"', 'uid="U1" rank="1"', "6: <iunit> has an unknown attribute rank; delete it"),
        ("<first>", '<first iid="I1">', "5: <first> has an unknown attribute iid; delete it"),
        ("first>", "second>", "4: <result> has no <first>; add <first>...</first>"),
        ("<first>", "<first></first><first>", "5: a second <first> in <result>; delete one of the two"),
        ('qid="Q2"', 'qid="Q22"', "13: unknown query 'Q22'; did you mean 'Q2'?"),
        ('qid="Q2"', 'qid="Q22"', "2: query 'Q2' is missing; add a <result qid=\"Q2\">"),
        ('qid="Q2"', 'qid="Q1"', "13: query 'Q1' has a result on line 4 already; delete one of the two"),
        ('uid="U1"', 'uid="U33"', "6: unknown iUnit 'U33'; did you mean 'U3'?"),
        ('uid="U1"', 'uid="U4"', "6: iUnit 'U4' is one of query 'Q2', not of 'Q1'; delete it"),
        ('uid="U3"', 'uid="U4"', "10: iUnit 'U4' is one of query 'Q2', not of 'Q1'; delete it"),
        ('iid="I2"', 'iid="I3"', "7: intent 'I3' is one of query 'Q2', not of 'Q1'; delete it"),
        (
            '<second iid="I2">',
            '<second iid="X">',
            "9: unknown intent 'X'; add it to COLLECTION/intents.tsv, or delete it",
        ),
        ('uid="U1"', 'uid="X99"', "6: unknown iUnit 'X99'; add it to COLLECTION/iunits.tsv, or delete it"),
        ('qid="Q2"', 'qid="X"', "13: unknown query 'X'; add it to COLLECTION/queries.tsv, or delete it"),
        (
            '<link iid="I2"/>',
            '<link iid="I2"/><link iid="I1"/>',
            "7: the link to 'I1' has no second layer; add <second iid=\"I1\"></second>",
        ),
        (
            '      <link iid="I2"/>\n',
            "",
            "8: no link leads to the second layer of 'I2'; add <link iid=\"I2\"/> to <first>, or delete this layer",
        ),
        (
            '<second iid="I2">',
            '<second iid="I2"/><second iid="I2">',
            "9: 'I2' has a second layer on line 9 already; delete one of the two",
        ),
    ],
)
def test_each_fault_names_line_and_cure(tmp_path, collection, old, new, fault):
    """Every error of the format has a line, and words that say how to mend it."""
    found = faults_of(tmp_path, RUN.replace(old, new), collection)
    assert fault.replace("COLLECTION", collection.name) in found


def test_a_link_without_second_layer_is_named_once_where_it_first_stands(tmp_path, collection):
    """One layer mends all of its links."""
    text = RUN.replace('<link iid="I2"/>', '<link iid="I2"/>\n<link iid="I1"/>\n<link iid="I1"/>')
    assert [fault.split(";")[0] for fault in faults_of(tmp_path, text, collection)] == [
        "8: the link to 'I1' has no second layer"
    ]


def test_all_faults_are_shown_at_once_in_the_order_of_lines(tmp_path, collection):
    """Nobody should mend one line, run again, and be told of the next."""
    text = (
        RUN.replace('uid="U1"', 'uid="U9"')
        .replace('uid="U4"', 'uid="U1"')
        .replace("<sysdesc>a run by hand</sysdesc>", "")
    )
    lines = [int(fault.split(":")[0]) for fault in faults_of(tmp_path, text, collection)]
    assert lines == [2, 6, 15]


def test_an_entity_is_never_resolved(tmp_path, collection):
    """Reading somebody's run must not read the reader's files."""
    secret = tmp_path / "secret"
    secret.write_text("U1", encoding="utf-8")
    text = f'<!DOCTYPE results [<!ENTITY s SYSTEM "file://{secret}">]>\n<results><sysdesc>&s;</sysdesc></results>'
    assert faults_of(tmp_path, text, collection) == ["1: a DOCTYPE is not allowed; delete it"]


markup = st.lists(st.sampled_from(re.findall(r"<[^>]*>|[^<>]+", RUN)), max_size=40).map("".join)


@given(st.binary(max_size=60).map(lambda data: data.decode("latin-1")) | markup)
@example("PK\x03\x04")
@example("PK\x03\x04xl/")
def test_any_text_gives_a_run_or_faults(tmp_path_factory, collection, text):
    """Nothing in a run may end in a traceback."""
    path = write_run(tmp_path_factory.mktemp("fuzz"), text)
    try:
        run = read_summary_run(path, collection)
    except InputError as error:
        assert all(map(is_placed, error.faults))  # noqa: PT017 - either outcome is right
    else:
        assert set(run.summaries) == {"Q1", "Q2"}


@given(st.integers(0, len(RUN)), st.sampled_from(["", "x", "<", '"', "&", "\0"]), st.integers(0, 20))
def test_any_change_to_a_good_run_gives_a_run_or_faults(tmp_path_factory, collection, start, put, cut):
    """Near misses reach deeper into the reader than noise does."""
    path = write_run(tmp_path_factory.mktemp("fuzz"), RUN[:start] + put + RUN[start + cut :])
    try:
        assert set(read_summary_run(path, collection).summaries) == {"Q1", "Q2"}
    except InputError as error:
        assert all(map(is_placed, error.faults))  # noqa: PT017 - either outcome is right
