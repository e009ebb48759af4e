"""What was judged how often; and who is preferred so far, which stays hidden until somebody opens it."""

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from study_app.services.console.material import couple_matrix, looks, open_results, votes_so_far
from study_app.store.plan import TaskPlan
from study_app.web.console.frame import Seat, manage, page, watch

blueprint = Blueprint("material", __name__)


@blueprint.get("/r/<study>/material")
@watch
def material(seat: Seat) -> Response:
    """Show the judgments of a task by topic and couple of systems."""
    task = _task(seat)
    matrix = couple_matrix(seat.session, task) if task.kind.page == "pair" else None
    return page(
        "console/material.html",
        seat,
        task=task,
        matrix=matrix,
        looks=looks(seat.session, seat.plan.id),
    )


def _task(seat: Seat) -> TaskPlan:
    """Return the task that the address names, by its number; the first with pairs where it names none."""
    tasks = seat.plan.tasks
    if "task" not in request.args:
        return next((task for task in tasks if task.kind.page == "pair"), tasks[0])
    given = request.args["task"]
    number = int(given) if given.isdecimal() and len(given) < 7 else 1
    if number > len(tasks):
        raise NotFound
    return tasks[max(1, number) - 1]


@blueprint.get("/r/<study>/material/results")
@watch
def results(seat: Seat) -> Response:
    """Say what opening the results means; it shows none."""
    return page("console/results.html", seat, votes=None, looks=looks(seat.session, seat.plan.id))


@blueprint.post("/r/<study>/material/results")
@manage("look at who is preferred")
def post_results(seat: Seat) -> Response:
    """Show who is preferred so far, and store that it was looked at."""
    look = open_results(seat.session, seat.plan.id, now=seat.now)
    seat.note(f"at {look.judgments} judgments")
    votes = votes_so_far(seat.session, seat.plan)
    return page("console/results.html", seat, votes=votes, looks=looks(seat.session, seat.plan.id))
