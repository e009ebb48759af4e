"""The catalogues: complete in every language, and nothing in a template that is not in them."""

import re
import string

import pytest

from study_app.config import resource_folder
from study_app.study.entries import SCALES
from study_app.study.pair_answers import scale_options
from study_app.tasks.kinds import KINDS, standard_check
from study_app.web.serving import CONDITION, LANGUAGES, Messages
from tests.study_app.small_streams import HOURLY
from tests.study_app.small_study import pairs_task
from tests.study_app.stream_visits import HOUR, log, stream_study

TEMPLATES = resource_folder("templates")
MESSAGE_PAGES = (
    *(
        "full",
        "withdrawn",
        "paused",
        "bad_host",
        "device_phone",
        "device_desktop",
        "no_study",
        "no_id",
        "not_invited",
        "kept_out",
        "too_often",
        "not_signed",
    ),
    *(
        "bad_address",
        "bad_form",
        "bad_request",
        "too_large",
        "not_found",
        "bare_address",
        "failure",
        "unavailable",
    ),
    "no_room",
)


@pytest.fixture(scope="module")
def messages():
    return Messages(TEMPLATES / "locale")


def keys_before(kind):
    """Return the keys of the page before a task."""
    return {f"guide.{kind}"} | {
        key
        for shows in ((), KINDS[kind].optional)
        for item in standard_check(kind, shows)
        for key in (item.question, *item.options)
    }


def fields(text):
    return {name.partition(".")[0] for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_language_has_every_message_with_the_same_places_to_fill(messages):
    """A key that is missing in one language would fail in front of a worker."""
    english = messages.catalogues["en"]
    assert {"en", "ja"} == set(LANGUAGES)
    for language in LANGUAGES:
        catalogue = messages.catalogues[language]
        assert catalogue.keys() == english.keys()
        assert {key: fields(text) for key, text in catalogue.items()} == {
            key: fields(text) for key, text in english.items()
        }
        assert all(text.strip() for text in catalogue.values())


def test_what_only_some_studies_show_is_marked_alike_in_every_language(messages):
    """With names that the kind of task has; a mark that is misspelt would hide a paragraph for ever."""
    known = {f"guide.{name}": set(kind.optional) for name, kind in KINDS.items()}
    known |= {
        f"{kind.side.name}.help": set(kind.optional) for kind in KINDS.values() if kind.side is not None
    }
    marks = {
        language: {
            key: [CONDITION.match(paragraph) for paragraph in text.strip().split("\n\n")]
            for key, text in messages.catalogues[language].items()
        }
        for language in LANGUAGES
    }
    written = {
        language: {
            key: [mark and mark[0] for mark in of_key] for key, of_key in of_language.items() if any(of_key)
        }
        for language, of_language in marks.items()
    }
    assert written["en"] == written["ja"]
    assert set(written["en"]) <= set(known)
    for key, of_key in marks["en"].items():
        assert {mark["name"] for mark in of_key if mark} <= known.get(key, set()), key


def test_japanese_is_japanese(messages):
    """No message was left in English; one of nothing but places to fill is the same in any language."""
    said = {key: re.sub(r"\{.*?\}|\s", "", text) for key, text in messages.catalogues["ja"].items()}
    assert [key for key, text in said.items() if text and text.isascii()] == []


def test_templates_and_code_use_what_is_there_and_nothing_is_left_over(messages):
    """Keys that are put together at run time are listed here."""
    folders = ("*.html", "sides/*.html", "examples/*.html")
    code = [path.read_text() for folder in folders for path in TEMPLATES.glob(folder)]
    code += [path.read_text() for path in (TEMPLATES.parent / "study_app").rglob("*.py")]
    forms = {kind.side.name for kind in KINDS.values() if kind.side is not None}
    built = {f"{form}.{part}" for form in forms for part in ("heading", "topic", "help", "left", "right")}
    built |= {f"pushes.{part}_{side}" for part in ("letter", "same_day") for side in ("left", "right")}
    beginnings = {start for text in code for start in re.findall(r't\("([a-z_.]+)" ~ (?:side|other)\)', text)}
    built |= {f"{start}{side}" for start in beginnings for side in ("left", "right")}
    built |= {words for scale in SCALES for _, words in scale_options(scale)}
    built |= {f"{page}.{part}" for page in MESSAGE_PAGES for part in ("heading", "text")}
    built |= {key for kind in KINDS for key in keys_before(kind)}
    examples = {name for text in code for name in re.findall(r'answers\(t, "([a-z_]+)", page.graded\)', text)}
    built |= {f"{name}.{way}_reason" for name in examples for way in ("left", "right", "good", "bad")}
    built |= {
        f"example_questions.{option}" for option in ("daily", "weekly", "rarely", "messages", "maps", "music")
    }
    types = ("single", "multiple", "number", "text")
    built |= {f"example_questions.{name}" for one in types for name in (one, f"{one}_explained")}
    built |= {f"example_questions.{one}_value" for one in ("number", "text")}
    built |= {f"rate.rating_{rating}" for rating in (0, 2, 4)}
    named = {name for text in code for name in re.findall(r'"([a-z_]+(?:\.[a-z_]+)?)"', text)}
    keys = set(messages.catalogues["en"])
    assert keys - named - built == set()
    called = {name for text in code for name in re.findall(r'\bt\("([a-z_.]+)"', text)}
    assert {name for name in called if not name.endswith(("_", "."))} - keys == set()


def test_no_page_of_a_worker_has_words_of_its_own():
    """They would be English in every language; the researcher's pages are."""
    code, tag = re.compile(r"\{[%#{].*?[%#}]\}", re.DOTALL), re.compile(r"<[^>]*>|[\w-]+=\"[^\"]*\"")
    pages = {*TEMPLATES.glob("*.html"), *TEMPLATES.glob("sides/*.html"), *TEMPLATES.glob("examples/*.html")}
    said = {
        path.name: re.findall(r"[^\W\d_]{2,}", tag.sub(" ", code.sub(" ", path.read_text())))
        for path in pages
    }
    assert {name for name, words in said.items() if words} == set()


def test_a_japanese_task_is_in_japanese(campaign, messages):
    """The language is the task's; the study's own pages have that of the first task."""
    study = campaign(tasks=[pairs_task(language="ja", search_seconds=60)])
    ann = study.arrive()
    assert ann.html.html["lang"] == "ja"
    assert messages.text("ja", "consent.agree") in ann.text
    ann.send().send(topic="1")
    assert messages.text("ja", "search.heading") in ann.text
    assert "3分20秒" in ann.text
    study.clock.forward(200)
    ann.send()
    assert set(ann.options("choice").values()) == {
        messages.text("ja", f"pair.choice_{choice}")
        for choice in ("left", "right", "equally_good", "equally_bad")
    }
    assert study.judge_all(ann).send().html.h1.get_text() == messages.text("ja", "done.heading")


def test_a_japanese_stream_is_in_japanese(campaign):
    """Every page of it, whatever it says: the catalogue is followed to the last page; only the event's title is not."""
    study = stream_study(
        campaign,
        events={"TS14.91": "嵐", "TS14.92": "運休"},
        systems={"sysprompt": [told._replace(text="速報", nuggets=("SYN-1",)) for told in HOURLY]},
        task={"language": "ja", "topics_per_worker": 2, "clock_factor": 2.0, "updates_per_page": 2},
        title="調査",
        consent="同意書",
    )
    ann = study.arrive().send().send(topic="1").send().send()
    study.clock.forward(3 * HOUR)
    ann.open(f"{ann.home}1/1/stream")
    log(ann, ["u6"])
    ann.send(read=["u6"], done="1").send(**{"useful-1": "yes"})
    study.clock.forward(60)
    for path in ("1/1/stream", "1/1/enrol", "1/streams", "1/1/useful", "1/2/useful", "1/1/away"):
        ann.open(ann.home + path)
        assert ann.step == path
        assert ann.html.html["lang"] == "ja"
    study.clock.forward(45 * HOUR)
    ann.open(f"{ann.home}1/1/away").open(ann.home)
    assert ann.step == "finish"
    for answer in ann.log:
        words = re.sub(r"<[^>]*>", " ", answer.text) if answer.status_code == 200 else ""
        words = re.sub(r"https?://\S+|UTC|[a-z0-9]{12}", " ", words)
        assert not re.findall(r"[A-Za-z]{3,}", words), (answer.request.path, words)
