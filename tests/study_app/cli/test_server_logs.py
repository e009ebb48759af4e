"""waitress and gunicorn write into the same log as the study server; their words must not undo what it takes care of."""

import logging

import pytest

from study_app.cli.serve.http_server import quieted


@pytest.fixture
def logger(caplog):
    """A server's logger, as `prefcal serve` sets it up."""
    caplog.set_level(logging.INFO)
    yield quieted("prefcal.test_server_logs")
    logging.getLogger("prefcal.test_server_logs").filters.clear()


def test_a_browser_that_goes_away_is_not_worth_a_line(logger, caplog):
    """waitress tells the address, whose middle is the worker's token, each time that somebody loads a page again too soon."""
    logger.info("Client disconnected while serving /w/SECRET/1/1/pair/1")
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Exception while serving /w/SECRET/1/1/pair/1", "Exception while serving an address"),
        ("Task queue depth is 3", "Task queue depth is 3"),
    ],
)
def test_what_a_server_says_of_a_request_names_nobody(logger, caplog, said, kept):
    """No token, no platform id, no network address; what went wrong is kept."""
    logger.warning("%s", said)
    assert [record.getMessage() for record in caplog.records] == [kept]
