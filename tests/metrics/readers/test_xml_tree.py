"""XML that cannot reach out of its file, with a line for every element."""

import pytest

from metrics.errors import InputError
from metrics.readers.trees import read_xml


@pytest.fixture
def written(tmp_path):
    """Write a text to a file and return its path."""

    def write(text):
        path = tmp_path / "file.xml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_elements_know_their_line_attributes_and_text(written):
    """Readers name the line of whatever is wrong."""
    root = read_xml(written('<?xml version="1.0"?>\n<a>\n <b x="1">one &amp; two</b>\n <c/>\n</a>\n'))
    assert (root.tag, root.line) == ("a", 2)
    first, second = root.children
    assert (first.tag, first.attributes, first.text, first.line) == ("b", {"x": "1"}, "one & two", 3)
    assert (second.tag, second.line) == ("c", 4)


def test_a_doctype_is_refused_with_its_line(written):
    """No entity can be declared, so none can read a file or swell to gigabytes."""
    text = '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]>\n<a>&e;</a>'
    with pytest.raises(InputError, match=r"file\.xml:2: a DOCTYPE is not allowed; delete it"):
        read_xml(written(text))


@pytest.mark.parametrize(
    ("text", "line"),
    [("", 1), ("<a>\n<b>\n</a>", 3), ("<a>&unknown;</a>", 1), ("<a/>\n<b/>", 2), ("<a x='1'\nx='2'/>", 2)],
)
def test_markup_that_is_not_well_formed_is_a_fault_with_its_line(written, text, line):
    """The search for other faults ends there, because what follows cannot be told apart."""
    with pytest.raises(InputError, match=rf"file\.xml:{line}: the XML is not well formed"):
        read_xml(written(text))


def test_a_file_of_another_sort_is_no_xml_and_the_cure_is_the_readers(written):
    """Nobody mends the markup of a table."""
    message = r"file\.xml:1: this is no XML file: it does not begin with <; give the topics"
    with pytest.raises(InputError, match=message):
        read_xml(written("\n1\tnugget\n"), hint="give the topics")


def test_a_tag_left_open_is_named_with_its_own_line(written):
    """The line where the parser noticed is seldom the line to mend."""
    with pytest.raises(InputError, match=r"file\.xml:3: .* \(<b> of line 2 is not closed\)"):
        read_xml(written("<a>\n<b>\n</a>"))
