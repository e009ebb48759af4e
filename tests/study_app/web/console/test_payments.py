"""The platform's list in the console: read, sorted into whom to approve, to pay and to ask, and marked as paid."""

import io

import pytest
from sqlalchemy import select

from study_app.store.task_models import PlatformRecord
from tests.study_app.small_study import votes_task
from tests.study_app.web.console.console_client import acts, text_of, token, watcher

HEADER = "Submission id,Participant id,Status,Completion code\n"
LIST = (
    HEADER
    + "s1,dora,AWAITING REVIEW,CDONE\ns2,eve,RETURNED,\ns3,cleo,AWAITING REVIEW,NOCODE\n=s4,stranger,APPROVED,x\n"
)


@pytest.fixture
def study(campaign):
    """Dora, Eve and Hal have complete data, Cleo is at work; the list has not heard of Hal."""
    one = campaign(platform="connect", tasks=[votes_task()], completion_code="CDONE")
    for name in ("dora", "eve", "hal", "cleo"):
        person = one.visitor().open(f"/s/small?participantId={name}&projectId=x&assignmentId={name}").send()
        person.send(topic="1")
        if name != "cleo":
            person.send(intent=["1"]).send()
    return one


def upload(client, text, name="list.csv"):
    data = {"csrf": token(client), "list": (io.BytesIO(text.encode()), name)}
    return client.post("/r/small/payments/list", data=data, content_type="multipart/form-data")


def csv_of(client, name):
    return client.get(f"/r/small/payments/{name}.csv").text.splitlines()


def counts(client):
    page = text_of(client.get("/r/small/payments"))
    return [int(page.split(f"{word}: ")[1].split()[0]) for word in ("Approve", "Pay", "Ask about")]


def test_a_list_becomes_lists_to_approve_to_pay_and_to_ask(study):
    """Platform ids are in the lists alone, which leave a line in the audit; the page has counts."""
    client = study.console()
    study.clock.forward(60)
    page = client.post(upload(client, LIST).location).status_code, text_of(client.get("/r/small/payments"))
    assert counts(client) == [1, 1, 2]
    assert "dora" not in page[1]
    assert csv_of(client, "approve") == [
        "platform_id,submission,status,finding",
        "dora,s1,AWAITING REVIEW,pay",
    ]
    assert csv_of(client, "pay")[1:] == ["eve,s2,RETURNED,not_handed_in"]
    assert csv_of(client, "ask")[1:] == ["cleo,s3,AWAITING REVIEW,no_data", "hal,,,not_listed"]
    assert (
        "read the platform's list",
        "4 lines, of 3 people of this study and 1 with ids unknown here",
    ) in acts(study)
    assert acts(study)[-1] == (
        "take a list for payments",
        "ask: 2 submissions, with platform ids of 2 people",
    )
    assert client.get("/r/small/payments/all.csv").status_code == 404


def test_what_was_marked_as_paid_stays_so_whatever_a_later_list_says(study):
    """Who paid a bonus outside the platform is not told to pay again."""
    client = study.console()
    upload(client, LIST)
    page = client.get("/r/small/payments").text
    as_of = page.split('name="as_of" value="')[1].split('"')[0]
    form = {"csrf": token(client), "list": "pay", "as_of": as_of}
    study.clock.forward(60)
    done = client.post("/r/small/payments/paid", data=form, follow_redirects=True)
    assert "Done: mark as paid (1 submission of the list pay, of 1 person)" in text_of(done)
    assert client.post("/r/small/payments/paid", data=form).status_code == 409
    upload(client, LIST)
    assert counts(client) == [1, 0, 2]
    newer = client.post("/r/small/payments/paid", data=form | {"list": "approve"})
    assert (newer.status_code, "A newer list was read" in newer.text) == (409, True)
    assert counts(client) == [1, 0, 2]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1,2\n", "odd<b>.csv:1: missing column with the ids of the workers"),
        (LIST + "s5,,ACTIVE,\n", "odd<b>.csv:6: missing id of the worker"),
        (HEADER, "no line below its header"),
        ("", "missing column with the ids"),
    ],
)
def test_an_upload_that_is_no_list_stores_nothing(study, text, reason):
    """A plain page says what is wrong and how to go on."""
    client = study.console()
    answer = upload(client, text, name="odd<b>.csv")
    assert (answer.status_code, reason in text_of(answer)) == (422, True)
    assert study.rows(select(PlatformRecord)) == []
    assert acts(study)[-1][0] == "refused: read the platform's list"


def test_a_list_may_be_larger_than_an_answer_of_a_worker_but_not_of_any_size(study):
    """No other form is."""
    client = study.console()
    line = "s,somebody,AWAITING REVIEW,CDONE\n"
    assert upload(client, HEADER + line * 10_000).status_code == 303
    far_too_large = client.post("/r/small/payments/list", data=b"x" * 1_100_000)
    assert far_too_large.status_code == 413
    assert "at most 1 MB" in text_of(far_too_large)
    assert client.post("/r/small/payments/paid", data={"csrf": "x" * 100_000}).status_code == 413


def test_a_key_to_watch_sees_counts_and_takes_no_list(study):
    """Nor does it upload or mark."""
    upload(study.console(), LIST)
    client = watcher(study)
    assert counts(client) == [1, 1, 2]
    assert "Upload" not in client.get("/r/small/payments").text.replace("Upload a newer", "")
    assert client.get("/r/small/payments/approve.csv").status_code == 403
    assert upload(client, LIST).status_code == 403
