"""Streams of the size of the TREC 2014 collection: a page shows a portion of what is new, however much that is."""

import re

import pytest

from tests.study_app.stream_visits import come_back, shown

STUDY = """\
study: small
title: How do you follow the news?
consent: One may stop.
tasks:
  - kind: stream_visits
    collection:
      topics: {qrels}/trec2014-ts-topics-test.xml
      nuggets: {qrels}/nuggets.tsv
      matches: {qrels}/matches.tsv
      updates: {qrels}/updates_sampled.tsv
    systems: {{everything: everything}}
    days: 10
"""
LARGE = "Chelyabinsk meteor"
PORTION = 20


@pytest.fixture
def everything(shared, campaign):
    """A served study whose only system gives out every judged update a minute after its document."""
    study, qrels = campaign(), shared / "data" / "ts-2014" / "qrels"
    with (qrels / "updates_sampled.tsv").open(encoding="utf-8") as lines:
        updates = [line.split("\t")[:4] for line in lines][1:]
    run = [
        f"{topic.removeprefix('TS14.')} gold everything {doc} {sentence} {int(doc.partition('-')[0]) + 60} 1\n"
        for topic, _, doc, sentence in updates
    ]
    (study.folder / "everything").write_text("".join(run), encoding="utf-8")
    path = study.folder / "study.yaml"
    path.write_text(STUDY.format(qrels=qrels), encoding="utf-8")
    study.load_file(path)
    return study


def test_a_thousand_new_updates_come_in_small_pages(everything):
    """After eight days away: the newest twenty on a page of less than 20 kB, and a way to the older ones."""
    visitor = everything.arrive().send()
    offered = visitor.options("topic")
    visitor.send(topic=next(value for value, text in offered.items() if text == LARGE)).send()
    come_back(everything, visitor, after_hours=8 * 24)
    new = int(re.search(r"\d+", visitor.html.h1.get_text())[0])

    assert new > 1000
    assert len(shown(visitor)) == PORTION
    assert len(visitor.response.data) < 20_000
    assert visitor.html.select_one("a[rel=next]") is not None
