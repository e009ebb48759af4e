"""Texts in a table of pairs: what a reader needs is where they differ."""

from study_app.report.parts.agreement_tables import SAME, side_by_side


def test_lines_stay_apart():
    """Glued together, two links would read as one."""
    assert side_by_side("Hours\nTickets", "Tickets") == ("Hours / Tickets", "Tickets")


def test_a_long_beginning_in_common_is_left_out():
    """Else both cells show the same words and the difference is cut off."""
    start = "word " * 100

    a, b = side_by_side(f"{start}early", f"{start}late")

    assert a == f"… {'word ' * 7}early"
    assert b == f"… {'word ' * 7}late"


def test_texts_without_spaces_are_cut_as_well():
    """Japanese has none; the forty characters before the difference are shown."""
    start = "あ" * 500

    assert side_by_side(f"{start}い", f"{start}う") == (f"… {'あ' * 40}い", f"… {'あ' * 40}う")


def test_an_early_difference_is_shown_from_the_start_and_cut_at_the_end():
    """The beginning says what the text is."""
    a, b = side_by_side("one " + "word " * 100, "two")

    assert a.startswith("one word")
    assert a.endswith("…")
    assert len(a) <= 241
    assert b == "two"


def test_a_text_that_goes_on_after_the_other_s_end_shows_how():
    """One text may be the beginning of the other."""
    start = "word " * 99 + "word"

    a, b = side_by_side(start, f"{start} more")

    assert b == f"{a} more"


def test_the_same_text_is_said_to_be_the_same():
    """Spaces do not count, lines do; and nothing is nothing."""
    assert side_by_side("a b", "a  b") == ("a b", SAME)
    assert side_by_side("a b", "a\nb")[1] == "a / b"
    assert side_by_side("", "") == ("", "")
