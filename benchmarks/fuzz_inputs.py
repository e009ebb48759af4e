"""Valid inputs, and ways to break them, for benchmarks/fuzz.py."""

import gzip
import random

NASTY = [
    *(
        b"",
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\r",
        b"\n",
        b"\t",
        b"\x1b[31m",
        b"'",
        b'"',
        b"<",
        b"&amp;",
        b"]]>",
        b"{",
        b"[",
    ),
    *(
        b"-1",
        b"0",
        b"1e999",
        b"NaN",
        b"-inf",
        b"null",
        b"9" * 30,
        b"9" * 400,
        b"9" * 5000,
        b"0x10",
        b"1_000",
        b"1.5",
        b"2026-02-30",
    ),
    *(
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
        b"&b;",
        b"*a",
        b"&a",
        b"!!python/object:os.system",
        b"<<: *a",
        b"? ",
        b"---\n",
    ),
    *(
        b"[" * 2000,
        b"<a>" * 2000,
        b"- " * 2000,
        b"'; DROP TABLE worker; --",
        b"../../../etc/passwd",
        b"{{7*7}}",
        b"%00",
    ),
    *(
        "＝1＋1".encode(),
        "\u2028".encode(),
        "\ufeff".encode(),
        "٣".encode(),
        "a\u0301".encode(),
        b"=1+1",
        b"\\ud800",
        b"\\u0000",
    ),
]
"""Texts that readers have failed on, put in anywhere."""

STUDY_JSON = {
    "study": "small",
    "title": "Small",
    "started_at": "2026-03-01T10:00:00.000Z",
    "prefcal_version": "0.1.0",
    "clock": {"origin": "2026-03-01T10:00:00.000Z", "factor": 1},
    "idle_seconds": 300,
    "visit_gap_seconds": 60,
    "tasks": {
        "summaries": {
            "kind": "summary_pairs",
            "language": "en",
            "collection": {"queries": {"path": "queries.tsv", "sha256": "0" * 64}},
            "systems": {"a": {"path": "a.xml", "sha256": "0" * 64}},
            "protocol": {"search_seconds": 180},
        }
    },
}
MODEL = {
    "format": "prefcal-user-model/1",
    "study": "small",
    "tables_sha256": "0" * 64,
    "prefcal_version": "0.1.0",
    "seed": 1,
    "parameters": {
        "patience_chars": {
            "estimate": 800,
            "interval": [600, None],
            "level": 0.95,
            "unit": "characters",
            "method": "m",
        },
        "away_mean_seconds": {"estimate": 9000.0, "interval": [8000, 10000]},
        "away_sd_seconds": {"estimate": 9000.0, "interval": [8000, 10000], "method": "m"},
    },
    "joint": [
        {
            "names": ["away_mean_seconds", "away_sd_seconds"],
            "scale": "log",
            "covariance": [[0.1, 0.0], [0.0, 0.1]],
        }
    ],
    "intents": {"T1": {"I1": {"estimate": 0.5, "interval": [0.4, 0.6], "raw": 0.5}}},
}


EVENTS = [
    {"kind": "open", "layout": "stacked", "width": 390, "height": 844, "restored": False},
    {"kind": "visible"},
    {"kind": "see", "side": "left", "item": "f0", "share": 0.25},
    {"kind": "layer", "side": "right", "item": "s1.0", "open": True},
    {"kind": "scroll", "depth": 0.5},
    {"kind": "sleep", "lost_ms": 60000},
    {"kind": "choice", "choice": "left"},
]


def broken(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one to three things done to them."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([1, 1, 2, 5, 20, 200]))
        lines = data.split(b"\n")
        pick = rng.randrange(len(lines))
        match rng.randrange(9):
            case 0:
                data = data[:start] + data[end:]
            case 1:
                data = data[:start] + rng.choice(NASTY) + data[start:]
            case 2:
                data = data[:start] + rng.choice(NASTY) + data[end:]
            case 3:
                data = data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]
            case 4:
                data = data[:start] + data[start:end] * rng.randint(2, 50) + data[end:]
            case 5:
                data = data[:start]
            case 6:
                data = b"\n".join(lines[:pick] + lines[pick + 1 :])
            case 7:
                data = b"\n".join([*lines[:pick], lines[rng.randrange(len(lines))], *lines[pick:]])
            case _:
                separator = rng.choice([b"\t", b",", b" ", b": ", b'"'])
                fields = lines[pick].split(separator)
                fields[rng.randrange(len(fields))] = rng.choice(NASTY)
                data = b"\n".join([*lines[:pick], separator.join(fields), *lines[pick + 1 :]])
    return gzip.compress(data, 1)[: rng.choice([None, -1, 30])] if rng.random() < 0.02 else data
