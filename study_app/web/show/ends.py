"""What the pages of the last steps show a worker: finish, stop, and the codes."""

from study_app.protocol.steps import FULL, current_step
from study_app.services.worker.codes import DueCode
from study_app.services.worker.ends import has_answer
from study_app.services.worker.look import Look
from study_app.services.worker.whereabouts import Whereabouts
from study_app.web.pages.pages import EndPage, FinishPage, MessagePage, StopPage

TEXTS = {
    "complete": "done.text",
    "screened_out": "stopped.screened_out",
    "failed_checks": "stopped.failed_checks",
    "partial": "stopped.partial",
}
"""How a worker's part ended -> key of what is said about it."""

NOTHING = {"partial": "stopped.nothing"}
"""The same for those who have answered nothing, where that is said."""


def finish_page(look: Look) -> FinishPage:
    """Return the last page before the code."""
    return FinishPage(language=look.language, withdrawal_code=look.here.worker.withdrawal_code)


def stop_page(look: Look) -> StopPage:
    """Return the question whether to stop here."""
    is_full = current_step(look.here.state) == FULL
    text = "stop.full" if is_full else "stop.answers" if has_answer(look.here) else "stop.nothing"
    return StopPage(language=look.language, text=text, is_full=is_full)


def end_page(here: Whereabouts, due: DueCode, *, just: bool) -> EndPage:
    """Return the page with the code; ``just``: the worker finished with the form before.

    Who ended early is told why before going back.
    """
    finished = due.kind == "complete"
    leads_on = due.back is not None and not due.back.fields
    return EndPage(
        language=here.plan.language,
        heading="done.heading" if finished else "stopped.heading",
        text=TEXTS[due.kind] if has_answer(here) else NOTHING.get(due.kind, TEXTS[due.kind]),
        label="done.code" if finished else "stopped.code",
        code=due.code,
        back=due.back,
        at_once=just and finished and leads_on and here.plan.entry.return_at_once,
        withdrawal_code=here.worker.withdrawal_code,
    )


def message_page(look: Look) -> MessagePage:
    """Return a page that only says something: the study is full, or the worker has withdrawn.

    Who has begun and finds the study full is offered to stop, which gives the code for a part of the work.
    """
    kind = look.step.kind
    return MessagePage(
        language=look.language,
        heading=f"{kind}.heading",
        text=f"{kind}.text",
        stops=kind == "full" and look.here.state.consented,
    )
