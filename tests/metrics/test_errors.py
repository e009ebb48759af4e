"""How faults are collected and shown."""

import pytest

from metrics.errors import Fault, FaultLog, InputError, PrefcalError, format_faults, input_fault, raise_all


def test_a_fault_is_one_line_with_place_problem_and_cure():
    """An editor can jump to FILE:LINE; a fault of the whole file stands at its first line."""
    assert str(Fault(problem="no tag", cure="add it", path="a.xml", line=7)) == "a.xml:7: no tag; add it"
    assert str(Fault(problem="no\n tag", cure="add it", path="a.xml")) == "a.xml:1: no tag; add it"
    assert str(Fault(problem="no tag", cure="add it")) == "no tag; add it"


def test_at_most_twenty_faults_are_shown():
    """The rest is a number; a thousand lines help nobody."""
    faults = [Fault(problem=str(number), cure="") for number in range(23)]
    assert len(format_faults(faults[:20])) == 20
    assert format_faults(faults)[-1] == "... and 3 more"


def test_a_log_raises_all_it_noted_or_nothing():
    """Readers go on after a fault and end here."""
    log = FaultLog("a.tsv")
    log.raise_if_any()
    log.add("one", line=2, cure="mend it")
    log.add("two", line=1, cure="mend it")
    with pytest.raises(InputError) as caught:
        log.raise_if_any()
    assert [fault.problem for fault in caught.value.faults] == ["one", "two"]


def test_the_faults_of_several_files_come_file_by_file_in_the_order_of_lines():
    """That is the order in which they are mended."""
    first, second = FaultLog("a"), FaultLog("b")
    second.add("b2", line=2, cure="")
    first.add("a9", line=9, cure="")
    first.add("a1", cure="")
    with pytest.raises(InputError) as caught:
        raise_all([first, second])
    assert [fault.problem for fault in caught.value.faults] == ["a1", "a9", "b2"]
    raise_all([FaultLog("c")])


def test_an_input_error_is_a_prefcal_error_and_a_value_error():
    """The command line catches the one, a Python user may expect the other."""
    error = input_fault("no tag", path="a.xml", line=3, cure="add it")
    assert isinstance(error, PrefcalError)
    assert isinstance(error, ValueError)
    assert str(error) == "a.xml:3: no tag; add it"
