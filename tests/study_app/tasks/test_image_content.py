"""`image_pairs` reads topics and the pictures of systems; a picture that cannot be shown is a line with file, line and cure."""

import io
import json
import os

import pandas as pd
import pytest

from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.errors import InputError, printable
from study_app.cli.study.commands import as_json, as_text
from study_app.estimate.content import read_whole_study
from study_app.estimate.estimate import MediaLoad, estimate
from study_app.tasks.reading import pictures
from tests.study_app.small_pictures import SYSTEMS, drawn, file_of, lines_of, write_picture_study

FIRST = {"topic": "PT-1", "image": "picbeta/PT-1.png", "alt": "one bar"}


def content_of(folder, **changes):
    """Return the content of the only task."""
    return read_whole_study(write_picture_study(folder, **changes)).tasks[0]


def faults(folder, **changes):
    """Return the faults of a study, without the folder."""
    with pytest.raises(InputError) as caught:
        content_of(folder, **changes)
    return [str(fault).replace(f"{folder}/", "") for fault in caught.value.faults]


def test_a_side_is_one_picture_with_its_size_and_words(tmp_path):
    """Under a key that says nothing; a system without a picture of a topic is in no pair of it."""
    content = content_of(tmp_path)
    (block,) = content.sides["PT-2", "picalpha"].blocks
    assert (block.key, block.kind, block.words, block.chars, block.alt) == (
        "m1", "media", 0, 0, "2 pale bars, drawn for PT-2",
    )  # fmt: skip
    assert (block.media.mime, block.media.width, block.media.height) == ("image/png", 120, 80)
    assert block.id == block.media.sha256
    assert content.system_pairs["PT-2"] == (("picalpha", "picbeta"),)
    assert content.notes == ("picgamma: no picture of 1 topic of 2: PT-2",)


def test_what_is_stored_is_read_again_without_what_the_maker_wrote(tmp_path):
    """By its hash; nothing is kept in memory meanwhile."""
    content = content_of(tmp_path)
    media = next(content.sides["PT-1", "picalpha"].media())
    data = content.media[media.sha256]()
    assert pictures.read_picture(data).sha256 == media.sha256
    (tmp_path / media.path).write_bytes(file_of(drawn((1, 2, 3))))
    with pytest.raises(
        InputError, match=r"PT-1\.png:1: the picture has changed since it was checked; load the study"
    ):
        content.media[media.sha256]()


def test_a_table_says_which_file_was_shown_as_what(tmp_path):
    """With the hash of the file and of what was shown, and the words for it."""
    content = content_of(tmp_path)
    frame = pd.read_parquet(io.BytesIO(content.tables["media"])).assign(task="pictures")
    table = check_frame(frame, TABLES["media"])
    assert len(table) == len(content.sides) == 5
    row = table[(table["topic"] == "PT-1") & (table["system"] == "picbeta")].iloc[0]
    assert row["path"] == "picbeta/PT-1.png"
    assert row["media"] == next(content.sides["PT-1", "picbeta"].media()).sha256
    assert row["source_sha256"] != row["media"]


def test_a_look_at_a_picture_takes_its_time(tmp_path):
    """5 s each, which the estimate names."""
    content = content_of(tmp_path)
    assert content.sides["PT-1", "picalpha"].seconds("en") == 5
    (task,) = estimate(read_whole_study(tmp_path / "study.yaml")).tasks
    assert task.seconds.high > task.seconds.low > 4 * 3


BROKEN = {
    "empty": (b"", "picbeta/PT-1.png: the file is empty; export the picture again"),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "picbeta/PT-1.png: the file is an SVG, which can run scripts, not PNG, JPEG or WebP; save it as PNG, JPEG or WebP"),
    "gif": (b"GIF89a....", "picbeta/PT-1.png: the file is a GIF, not PNG, JPEG or WebP; save it as PNG, JPEG or WebP"),
    "cut": (file_of(drawn())[:200], "picbeta/PT-1.png: the picture is damaged, or cut off; export it again"),
    "wide": (file_of(drawn(size=(4097, 20))), "picbeta/PT-1.png: the picture has 4097 x 20 pixels, and 4096 a side are the most; make it smaller"),
    "large": (b"\x89PNG\r\n\x1a\n" + b"\0" * 5_200_000, "picbeta/PT-1.png: the file has 5.2 MB, and 5 MB are the most; save it smaller, or as JPEG or WebP"),
    "moving": (file_of(drawn(), save_all=True, append_images=[drawn(bars=2)]), "picbeta/PT-1.png: the picture moves; choose one of its pictures, and save that"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_picture_that_cannot_be_shown_is_one_line(tmp_path, name):
    """With the file and line that name it, what is wrong, and how to mend it."""
    data, said = BROKEN[name]
    assert faults(tmp_path, files={"picbeta/PT-1.png": data}) == [f"picbeta.jsonl:1: {said}"]


def test_a_picture_is_looked_at_before_it_is_read(tmp_path, monkeypatch):
    """A file of gigabytes never comes into memory."""
    path = write_picture_study(tmp_path)
    os.truncate(tmp_path / "picbeta/PT-1.png", 3_000_000_000)
    with pytest.raises(InputError, match=r"PT-1\.png: the file has 3000\.0 MB, and 5 MB are the most"):
        read_whole_study(path)


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("picbeta/PT-9.png", "there is no such file; write its path as seen from the folder of picbeta.jsonl"),
        ("picbeta", "there is no such file; write its path as seen from the folder of picbeta.jsonl"),
        ("../elsewhere.png", "the file lies outside the folder of picbeta.jsonl; copy it there, or below, and name it from there"),
        ("/etc/hostname", "the file lies outside the folder of picbeta.jsonl; copy it"),
        ("picbeta/../../elsewhere.png", "the file lies outside the folder of picbeta.jsonl; copy it"),
        ("link.png", "the file lies outside the folder of picbeta.jsonl; copy it"),
        ("linked/elsewhere.png", "the file lies outside the folder of picbeta.jsonl; copy it"),
        ("circle.png", "the file cannot be read ("),
        ("x" * 300, "the file cannot be read ("),
        ("nul\0.png", "there is no such file; write its path"),
    ],
)  # fmt: skip
def test_a_picture_lies_in_the_folder_of_the_file_that_names_it(tmp_path, image, said):
    """Also where a link leads out of it; what lies elsewhere is not even opened."""
    study, other = tmp_path / "study", tmp_path / "elsewhere.png"
    study.mkdir()
    other.write_bytes(file_of(drawn((9, 9, 9))))
    (study / "link.png").symlink_to(other)
    (study / "linked").symlink_to(tmp_path)
    (study / "circle.png").symlink_to(study / "circle.png")
    (fault,) = faults(study, lines={"picbeta": [{**FIRST, "image": image}]})
    assert fault.startswith(f"picbeta.jsonl:1: {printable(image)}: {said}")


def test_a_link_within_the_folder_is_as_good_as_a_file(tmp_path):
    """So pictures can be named after topics without copies."""
    path = write_picture_study(tmp_path, lines={"picbeta": [{**FIRST, "image": "other.png"}]})
    (tmp_path / "other.png").symlink_to(tmp_path / "picbeta" / "PT-1.png")
    assert next(read_whole_study(path).tasks[0].sides["PT-1", "picbeta"].media()).path == "other.png"


def test_the_same_picture_for_two_systems_of_a_topic_is_refused(tmp_path):
    """Whatever their files' metadata: nobody could prefer either."""
    plain = io.BytesIO()
    drawn(SYSTEMS["picalpha"], bars=1).save(plain, "PNG")
    same = {"picbeta/PT-1.png": plain.getvalue()}
    (fault,) = faults(tmp_path, files=same)
    assert fault == (
        "picbeta.jsonl:1: picbeta/PT-1.png: picbeta and picalpha show the same picture of topic PT-1; take the topic out of one of "
        "the two, or name the pairs to judge in a file (pairs)"
    )


def test_a_pair_of_equal_pictures_that_is_named_on_purpose_is_only_warned_of(tmp_path):
    """As with texts; where other pairs are named nothing is said."""
    plain = io.BytesIO()
    drawn(SYSTEMS["picalpha"], bars=1).save(plain, "PNG")
    changes = {"files": {"picbeta/PT-1.png": plain.getvalue(), "pairs.txt": b"PT-1 picalpha picbeta\n"}}
    path = write_picture_study(tmp_path, task={"pairs": "pairs.txt"}, **changes)
    assert any(
        "picalpha and picbeta show the same" in line for line in estimate(read_whole_study(path)).warnings
    )
    (tmp_path / "pairs.txt").write_text("PT-1 picalpha picgamma\n")
    assert not any("show the same" in line for line in estimate(read_whole_study(path)).warnings)


LINES = {
    "no JSON": ("nonsense\n", 'picbeta.jsonl:1: the line is not JSON; write {"topic": ID, "image": PATH, "alt": TEXT} on one line'),
    "no object": ("[1]\n", 'picbeta.jsonl:1: the picture is no object; write {"topic": ID, "image": PATH, "alt": TEXT} on one line'),
    "no image": ('{"topic": "PT-1", "alt": "x"}\n', 'picbeta.jsonl:1: the picture has no image; write "image": ...'),
    "number": ('{"topic": "PT-1", "image": 3}\n', "picbeta.jsonl:1: image of the picture is no text; write it in quotes"),
    "blank": ('{"topic": "PT-1", "image": " "}\n', 'picbeta.jsonl:1: a picture without a file; write {"topic": ID, "image": PATH, "alt": TEXT} on one line'),
    "unknown": ('{"topic": "PT-1", "image": "picbeta/PT-1.png", "title": "x"}\n', "picbeta.jsonl:1: the picture has 'title', which is not known; known here: topic, image, alt"),
    "strange topic": ('{"topic": "PT-7", "image": "picbeta/PT-1.png"}\n', "picbeta.jsonl:1: there is no topic PT-7; add it to topics.tsv, or delete the line"),
    "twice": ((json.dumps(FIRST) + "\n") * 2, "picbeta.jsonl:2: topic PT-1 has a picture above; delete one of the two lines; each system has a file of its own"),
    "nothing": ("\n", 'picbeta.jsonl:1: there are no pictures; write {"topic": ID, "image": PATH, "alt": TEXT} on one line'),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_names_no_picture_is_one_fault(tmp_path, name):
    """With its line and cure."""
    text, said = LINES[name]
    assert faults(tmp_path, files={"picbeta.jsonl": text.encode()}) == [said]


def test_a_picture_without_words_is_shown_and_said(tmp_path):
    """For who does not see it there is nothing: the researcher is told."""
    bare = [{name: line[name] for name in ("topic", "image")} for line in lines_of("picbeta")]
    content = content_of(tmp_path, lines={"picbeta": bare})
    assert (
        "picbeta: 2 pictures without alt, which a screen reader cannot describe: PT-1, PT-2" in content.notes
    )


def test_all_faults_of_all_systems_come_at_once(tmp_path):
    """In the order of the study file."""
    found = faults(tmp_path, files={"picbeta/PT-2.png": b"", "picgamma/PT-1.png": b"x"})
    assert [fault.partition(": ")[0] for fault in found] == ["picbeta.jsonl:2", "picgamma.jsonl:1"]


def test_words_that_no_page_can_show_are_refused(tmp_path):
    """As those of texts."""
    (fault,) = faults(tmp_path, lines={"picbeta": [{**FIRST, "alt": "bell \u0007"}]})
    assert "what picbeta shows of topic PT-1 has a character that no page can show (U+0007)" in fault


def test_systems_without_a_topic_in_common_are_no_study(tmp_path):
    """There is nothing to compare; so it is with every kind whose systems may leave topics out."""
    (of_two,) = faults(
        tmp_path,
        lines={"picbeta": lines_of("picbeta")[1:], "picalpha": lines_of("picalpha")[:1]},
        task={"systems": {name: f"{name}.jsonl" for name in ("picalpha", "picbeta")}},
    )
    assert of_two.startswith("study.yaml:")
    assert of_two.endswith(
        ": no two systems show anything of one topic; give two systems or more the same topics"
    )


def test_what_a_worker_loads_is_said(tmp_path, monkeypatch):
    """The largest page; of a worker no picture twice, however many pairs it is in; too much is a warning."""
    content = read_whole_study(write_picture_study(tmp_path))
    sizes = {
        key: len(content.tasks[0].media[next(side.media()).sha256]())
        for key, side in content.tasks[0].sides.items()
    }
    pages = [
        sizes[topic, one] + sizes[topic, other]
        for topic, pairs in content.tasks[0].system_pairs.items()
        for one, other in pairs
    ]
    estimated = estimate(content)
    (task,) = estimated.tasks
    assert task.load == MediaLoad(page=max(pages), worker=sum(sizes.values()))
    assert (
        f"    loads up to {sum(sizes.values()) / 1e6:.2g} MB, {max(pages) / 1e6:.2g} MB for a page\n"
        in as_text(content, estimated, ())
    )
    assert json.loads(as_json(content, estimated, ()))["tasks"][0]["megabytes"]["page"] == max(pages) / 1e6
    assert not any("MB" in line for line in estimated.warnings)
    monkeypatch.setattr("study_app.estimate.estimate.MAX_PAGE_BYTES", max(pages) - 1)
    monkeypatch.setattr("study_app.estimate.estimate.MAX_WORKER_BYTES", sum(sizes.values()))
    (heavy,) = (line for line in estimate(content).warnings if "MB" in line)
    assert heavy.startswith("pictures: a page loads up to ")


def test_a_worker_of_few_pairs_loads_few_pictures(tmp_path):
    """Those of the pairs with the most bytes."""
    (task,) = estimate(read_whole_study(write_picture_study(tmp_path, task={"pairs_per_worker": 1}))).tasks
    assert task.load.worker == task.load.page
