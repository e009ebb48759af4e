"""Which pages are open, and which is next."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from study_app.protocol.steps import (
    SlotState,
    Step,
    TaskState,
    WorkerState,
    after_page,
    current_step,
    open_steps,
    part_of,
)

FRESH = TaskState(page="pair", has_search=True, choices=3, wanted=1, has_room=True, slots=())


def worker(*tasks, consented=True, completed=False, withdrawn=False, stopped=False):
    return WorkerState(
        consented=consented, completed=completed, withdrawn=withdrawn, stopped=stopped, tasks=tasks
    )


def slot(*answered, searched=True):
    return SlotState(id=1, topic=1, searched=searched, answered=answered)


def paths(state):
    """Return the pages that are open, in order, without the way out, which has tests of its own."""
    return [step.path for step in open_steps(state) if step.kind != "stop"]


def test_consent_comes_first():
    """Nothing else is open before it."""
    assert paths(worker(FRESH, consented=False)) == ["consent"]


def test_full_is_said_before_consent():
    """Nobody agrees to something that cannot be done any more."""
    assert paths(worker(replace(FRESH, has_room=False), consented=False)) == ["full"]


def test_the_way_through_one_query():
    """Choose, search, the pairs up to the first without an answer, finish."""
    assert paths(worker(FRESH)) == ["consent", "1/choose"]
    searching = replace(FRESH, slots=(slot(False, False, searched=False),))
    assert paths(worker(searching)) == ["consent", "1/choose", "1/1/search"]
    judging = replace(FRESH, slots=(slot(True, False),))
    assert paths(worker(judging))[2:] == ["1/1/search", "1/1/pair/1", "1/1/pair/2"]
    done = replace(FRESH, slots=(slot(True, True),))
    assert paths(worker(done))[-2:] == ["1/1/pair/2", "finish"]


def test_there_is_no_choice_of_one():
    """A task with one query has no choice page, except when its place was lost to somebody and is free again."""
    only = replace(FRESH, choices=1, slots=(slot(False),))
    assert "1/choose" not in paths(worker(only))
    assert paths(worker(replace(FRESH, choices=1)))[-1] == "1/choose"


def test_a_second_query_is_chosen_after_the_first_is_done():
    """`queries_per_worker: 2`."""
    two = replace(FRESH, wanted=2, slots=(slot(True),))
    assert current_step(worker(two)) == Step("choose", 1)
    assert current_step(worker(replace(two, slots=(slot(False),)))) == Step("pair", 1, 1, 1)
    assert current_step(worker(replace(two, has_room=False))) == Step("finish")


def test_of_pairs_that_are_held_ahead_the_first_without_an_answer_is_open():
    """The others come one after another, though all are the worker's already; an earlier answer may still be changed."""
    ahead = worker(replace(FRESH, has_search=False, choices=0, slots=(slot(True), slot(False), slot(False))))
    assert paths(ahead) == ["consent", "1/1/pair/1", "1/2/pair/1"]
    assert after_page(ahead, Step("pair", 1, 2, 1)) == Step("pair", 1, 3, 1)
    assert after_page(ahead, Step("pair", 1, 1, 1)) == Step("pair", 1, 2, 1)
    assert after_page(ahead, Step("pair", 1, 3, 1)) is None


def test_a_full_task_is_passed_over_but_nothing_done_is_no_completion():
    """No data, no code."""
    full = replace(FRESH, has_room=False)
    done = replace(FRESH, slots=(slot(True),))
    assert current_step(worker(full, done)) == Step("finish")
    assert current_step(worker(full, full)) == Step("full")


def test_completed_and_withdrawn_workers_have_one_page():
    """After finishing nothing changes; after withdrawing nothing is asked."""
    done = replace(FRESH, slots=(slot(True),))
    assert paths(worker(done, completed=True)) == ["done"]
    assert paths(worker(done, completed=True, withdrawn=True)) == ["withdrawn"]


STREAMS = TaskState(page="stream", has_search=False, choices=2, wanted=2, has_room=True, slots=())


def stream(*, followed=True, over=False):
    return SlotState(id=1, topic=1, searched=True, answered=(over,), followed=followed)


def test_the_way_through_one_stream():
    """Enrol, then the stream is the current page as long as its days last; its pages stay open after them."""
    one = replace(STREAMS, choices=1, wanted=1)
    assert paths(worker(replace(one, slots=(stream(followed=False),)))) == ["consent", "1/1/enrol"]
    pages = ["consent", "1/1/enrol", "1/1/useful", "1/1/away", "1/1/stream"]
    assert paths(worker(replace(one, slots=(stream(),)))) == pages
    assert paths(worker(replace(one, slots=(stream(over=True),)))) == [*pages, "finish"]


def test_several_streams_run_side_by_side():
    """The next event is chosen as soon as one is followed; what runs already stays open meanwhile."""
    one = worker(replace(STREAMS, slots=(stream(),)))
    assert current_step(one) == Step("choose", 1)
    assert Step("stream", 1, 1) in open_steps(one)
    pending = worker(replace(STREAMS, slots=(stream(), stream(followed=False))))
    assert current_step(pending) == Step("enrol", 1, 2)
    assert Step("stream", 1, 1) in open_steps(pending)
    assert current_step(worker(replace(STREAMS, slots=(stream(), stream())))) == Step("streams", 1)
    assert current_step(worker(replace(STREAMS, slots=(stream(over=True), stream())))) == Step("stream", 1, 2)
    assert current_step(worker(replace(STREAMS, slots=(stream(), stream(over=True))))) == Step("stream", 1, 1)
    both_over = replace(STREAMS, slots=(stream(over=True), stream(over=True)))
    assert current_step(worker(both_over)) == Step("finish")


def test_the_next_task_waits_for_the_last_stream():
    """A stream that runs is unfinished."""
    running = replace(STREAMS, slots=(stream(over=True), stream()))
    assert current_step(worker(running, FRESH)) == Step("stream", 1, 2)
    over = replace(STREAMS, slots=(stream(over=True), stream(over=True)))
    assert current_step(worker(over, FRESH)) == Step("choose", 2)


slots = st.builds(
    lambda searched, answered: slot(*answered, searched=searched),
    st.booleans(),
    st.lists(st.booleans(), min_size=1, max_size=4),
)
streams = st.builds(
    lambda followed, over: stream(followed=followed, over=followed and over), st.booleans(), st.booleans()
)
tasks = st.builds(
    lambda page, has_search, topics, wanted, has_room, held: TaskState(
        page=page, has_search=has_search, choices=topics, wanted=wanted, has_room=has_room, slots=tuple(held)
    ),
    st.sampled_from(["pair", "vote"]),
    st.booleans(),
    st.integers(1, 4),
    st.integers(1, 3),
    st.booleans(),
    st.lists(slots, max_size=3),
)


stream_tasks = st.builds(
    lambda wanted, has_room, held: replace(STREAMS, wanted=wanted, has_room=has_room, slots=tuple(held)),
    st.integers(1, 3),
    st.booleans(),
    st.lists(streams, max_size=3),
)


@given(st.lists(st.one_of(tasks, stream_tasks), min_size=1, max_size=3))
def test_finish_is_open_only_when_nothing_is_missing(all_tasks):
    """The code depends on it: no data, no code."""
    state = worker(*all_tasks)
    if Step("finish") in open_steps(state):
        held = [one for task in state.tasks for one in task.slots]
        assert held
        assert all(all(one.answered) and one.searched for one in held)


@given(st.lists(st.one_of(tasks, stream_tasks), min_size=1, max_size=3))
def test_every_stream_that_runs_can_be_read(all_tasks):
    """Unless an earlier task is unfinished."""
    steps = open_steps(worker(*all_tasks))
    reached = max([step.task for step in steps], default=0)
    for number, task in enumerate(all_tasks[:reached], start=1):
        for query, held in enumerate(task.slots, start=1):
            assert not held.runs or Step("stream", number, query) in steps


def test_the_way_out_is_open_from_consent_to_the_end_and_never_in_the_way():
    """Who wants to stop can, at any time in between; nobody is sent there."""
    running = worker(FRESH)
    assert [step.path for step in open_steps(running)] == ["consent", "stop", "1/choose"]
    for state in (
        replace(running, consented=False),
        replace(running, completed=True),
        replace(running, stopped=True),
    ):
        assert Step("stop") not in open_steps(state)


def test_who_has_stopped_stays_where_the_code_is():
    """Nothing can be changed after an end."""
    done = replace(FRESH, slots=(slot(True, True),))
    assert paths(worker(done, stopped=True)) == ["stopped"]
    assert paths(worker(done, stopped=True, withdrawn=True)) == ["withdrawn"]


def test_an_introduction_comes_before_anything_is_taken():
    """What is not understood yet holds no place that others could have."""
    introduced = replace(FRESH, introduction=False)
    assert paths(worker(introduced)) == ["consent", "1/intro"]
    assert paths(worker(replace(introduced, introduction=True))) == ["consent", "1/intro", "1/choose"]


def test_a_task_without_room_is_passed_over_with_its_introduction():
    """Nobody reads instructions for something that cannot be done."""
    full = replace(FRESH, introduction=False, has_room=False)
    votes = replace(FRESH, page="vote", has_search=False, choices=1)
    assert paths(worker(full, votes)) == ["consent", "2/choose"]


def test_what_the_server_hands_out_has_no_list_to_choose_from():
    """Pairs of streams and intents to rate are taken one after the other."""
    pushes = replace(FRESH, has_search=False, choices=0, wanted=2)
    first = replace(pushes, slots=(slot(True),))
    assert not first.has_choice
    assert paths(worker(replace(first, slots=(slot(True), slot(False))))) == [
        *("consent", "1/1/pair/1", "1/2/pair/1"),
    ]


def test_sheets_are_numbered_and_questions_are_one_page():
    """Each sheet opens when the one before it has its ratings."""
    rating = replace(FRESH, page="rate", has_search=False, choices=0, slots=(slot(True, False, False),))
    asked = replace(
        FRESH, page="questions", has_search=False, choices=0, opens_study=False, slots=(slot(False),)
    )
    assert paths(worker(rating)) == ["consent", "1/1/rate/1", "1/1/rate/2"]
    assert paths(worker(asked)) == ["consent", "1/1/questions"]


def test_questions_alone_neither_open_a_study_nor_complete_it():
    """They never run out of room, so they say nothing about whether somebody is needed."""
    asked = replace(FRESH, page="questions", has_search=False, choices=0, opens_study=False)
    full = replace(FRESH, has_room=False)
    assert paths(worker(asked, full, consented=False)) == ["full"]
    answered = replace(asked, slots=(slot(True),), has_room=False)
    assert paths(worker(answered, full))[-1] == "full"
    assert paths(worker(answered))[-1] == "finish"


def test_a_page_says_which_part_of_the_study_it_belongs_to():
    """Every task that the worker has something of or can still get is a part, also on pages of tasks that are done."""
    done, now, later = (replace(FRESH, slots=held) for held in ((slot(True),), (slot(False),), ()))
    state = worker(done, now, later)
    steps = (Step("pair", 1, 1, 1), Step("search", 2, 1), Step("choose", 3))
    assert [part_of(state, step) for step in steps] == [(1, 3), (2, 3), (3, 3)]


def test_a_part_that_is_passed_over_is_not_counted():
    """Neither one that was full when the worker came to it, nor one that is full now."""
    done, full = replace(FRESH, slots=(slot(True),)), replace(FRESH, has_room=False)
    assert part_of(worker(done, full, FRESH, full), Step("choose", 3)) == (2, 2)
    assert part_of(worker(done, full, full), Step("pair", 1, 1, 1)) is None


def test_the_page_that_one_is_on_belongs_to_a_part_even_if_its_last_place_has_gone():
    """The list of queries of which none can be taken any more."""
    full = replace(FRESH, has_room=False)
    assert part_of(worker(FRESH, full), Step("choose", 2)) == (2, 2)


def test_pages_of_no_task_belong_to_no_part():
    """Nor is anything said in a study of one task."""
    state = worker(FRESH, FRESH)
    assert [part_of(state, Step(kind)) for kind in ("consent", "stop", "finish")] == [None, None, None]
    assert part_of(worker(FRESH), Step("choose", 1)) is None
