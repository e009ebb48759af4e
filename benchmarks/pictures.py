"""Pictures of a study beside static files of the same bytes, and on a slow phone.

Rounds are interleaved; on the phone they are set beside the time of their bytes.

python benchmarks/pictures.py [--participants 50] [--seconds 8] [--rounds 5]

Eight pictures of 2 MB are loaded into a SQLite file and served by `prefcal serve --processes 1`; the same bytes lie in a folder that Flask serves as
static files from the same HTTP server, kept on a core as prefcal's is. Each participant keeps a connection and loads one picture after the other, without a pause. Then a
Chromium of a phone's size, held to 10 Mbit/s and 40 ms, opens a pair page with two of the pictures, and a bare page with two of the files.
"""

import argparse
import http.client
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import httpx
import numpy as np
import yaml
from PIL import Image
from playwright.sync_api import sync_playwright
from serving_load import free_port, processor_seconds, running

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import FLAGS, PHONE  # noqa: E402 - as above
from tests.browser.ensure_chromium import find_chromium  # noqa: E402 - as above

SYSTEMS, TOPICS = ("one", "other"), ("T1", "T2", "T3", "T4")
BYTES_A_SECOND, LATENCY_MS = 10_000_000 / 8, 40
FILES = """\
import random, socket, sys
from flask import Flask
from study_app.cli.serve.machine import cores, freeze_gc, pin_to_core
from study_app.cli.serve.http_server import waitress_server
sock = socket.socket(); sock.bind(("127.0.0.1", int(sys.argv[2]))); sock.listen(1024)
app = Flask("files", static_folder=sys.argv[1], static_url_path="/m")
app.add_url_rule("/healthz", "healthz", lambda: "ok")
pin_to_core(random.choice(cores()))
freeze_gc()
waitress_server(app, sock).run()
"""


def picture(seed: int) -> bytes:
    """Return a picture of about 2 MB: what cannot be packed any smaller."""
    noise = np.random.default_rng(seed).integers(0, 256, (820, 820, 3), dtype=np.uint8)
    stream = BytesIO()
    Image.fromarray(noise).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def write_study(folder: Path) -> Path:
    """Write a study of four topics and two systems."""
    (folder / "topics.tsv").write_text("".join(f"{topic}\twhat was asked for\n" for topic in TOPICS))
    for number, system in enumerate(SYSTEMS):
        lines = []
        for place, topic in enumerate(TOPICS):
            (folder / f"{system}-{topic}.png").write_bytes(picture(10 * number + place))
            lines.append({"topic": topic, "image": f"{system}-{topic}.png", "alt": "noise"})
        (folder / f"{system}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    task = {"kind": "image_pairs", "collection": {"topics": "topics.tsv"}, "min_consistency": 0}
    task["systems"] = {system: f"{system}.jsonl" for system in SYSTEMS}
    study = {"study": "pictures", "title": "Pictures", "consent": "Please.", "tasks": [task]}
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    return folder / "study.yaml"


def take_out(database: Path, folder: Path) -> list[str]:
    """Write the stored pictures as files named by their hashes; return these."""
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT sha256, bytes FROM media").fetchall()
    for sha256, content in rows:
        (folder / sha256).write_bytes(content)
    images = "".join(f"<img src='/m/{sha256}'>" for sha256, _ in rows[:2])
    (folder / "page.html").write_text(f"<!doctype html><title>Files</title>{images}")
    return [sha256 for sha256, _ in rows]


@contextmanager
def both(folder: Path) -> Iterator[tuple[dict[str, tuple[str, int]], list[str]]]:
    """Serve both; yield name -> (address, group of processes), and the names of the pictures."""
    prefcal = [sys.executable, "-c", "from study_app.cli import main; main()"]
    url = f"sqlite:///{folder / 'pictures.sqlite3'}"
    load = [*prefcal, "study", "load", str(write_study(folder)), "--database", url]
    subprocess.run(load, check=True, capture_output=True, cwd=ROOT)
    (folder / "files").mkdir()
    names = take_out(folder / "pictures.sqlite3", folder / "files")
    ports = free_port(), free_port()
    serve = [*prefcal, "serve", "--port", str(ports[0]), "--database", url, "--processes", "1"]
    files = [sys.executable, "-c", FILES, str(folder / "files"), str(ports[1])]
    addresses = [f"http://127.0.0.1:{port}" for port in ports]
    with (
        running(serve, f"{addresses[0]}/healthz", cwd=ROOT) as one,
        running(files, f"{addresses[1]}/healthz", cwd=ROOT) as other,
    ):
        yield {"pictures": (addresses[0], one), "files": (addresses[1], other)}, names


def load_for(address: str, names: list[str], participants: int, seconds: float) -> tuple[list[float], int]:
    """Load pictures without a pause; return how long each took, and the bytes that came."""
    host, port = address.removeprefix("http://").split(":")
    taken, came, end = list[float](), list[int](), time.perf_counter() + seconds

    def participant(number: int) -> None:
        connection, rng = http.client.HTTPConnection(host, int(port)), random.Random(number)
        while time.perf_counter() < end:
            begun = time.perf_counter()
            connection.request("GET", f"/m/{rng.choice(names)}")
            answer = connection.getresponse()
            size = 0
            while part := answer.read(1 << 18):
                size += len(part)
            if answer.status != 200:
                raise RuntimeError(f"{address}: {answer.status}")
            taken.append(time.perf_counter() - begun)
            came.append(size)

    threads = [threading.Thread(target=participant, args=(number,)) for number in range(participants)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken, sum(came)


def on_a_phone(servers: dict[str, tuple[str, int]]) -> Iterator[tuple[str, float, float]]:
    """Yield name, seconds until both pictures of a pair page were there, and the seconds that their bytes take."""
    program = find_chromium()
    with sync_playwright() as running_one:
        browser = running_one.chromium.launch(executable_path=program, args=[*FLAGS])
        for number in range(6):
            name = ("pictures", "files")[number % 2]
            context = browser.new_context(**PHONE)
            page = context.new_page()
            network = context.new_cdp_session(page)
            page.goto(f"{servers['pictures'][0]}/s/pictures?id=phone{number}")
            network.send("Network.enable")
            network.send("Network.emulateNetworkConditions", {
                "offline": False, "latency": LATENCY_MS, "downloadThroughput": BYTES_A_SECOND, "uploadThroughput": BYTES_A_SECOND,
            })  # fmt: skip
            if name == "files":
                page.goto(f"{servers['files'][0]}/m/page.html")
            else:
                with page.expect_navigation(wait_until="load"):
                    page.locator("main form button").click()
            ends, size = page.evaluate("""() => {
                const all = [performance.getEntriesByType('navigation')[0], ...performance.getEntriesByType('resource')]
                  .filter((one) => !one.name.includes('/e/'));
                return [Math.max(...all.map((one) => one.responseEnd)), all.reduce((sum, one) => sum + one.transferSize, 0)];
            }""")
            yield name, ends / 1000, size / BYTES_A_SECOND
            context.close()
        browser.close()


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--participants", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, both(Path(folder)) as (servers, names):
        for address, _ in servers.values():
            httpx.get(f"{address}/m/{names[0]}").raise_for_status()
        rates: dict[str, list[float]] = {name: [] for name in servers}
        print("| run | MB/s | a picture p50 ms | p99 ms | processor ms a picture |\n|---|---|---|---|---|")
        for number in range(1, options.rounds + 1):
            for name, (address, group) in servers.items():
                before = processor_seconds(group)
                taken, came = load_for(address, names, options.participants, options.seconds)
                used = 1000 * (processor_seconds(group) - before) / len(taken)
                rates[name].append(came / 1e6 / options.seconds)
                p50, p99 = np.percentile(taken, [50, 99]) * 1000
                print(
                    f"| {name} {number} | {rates[name][-1]:.0f} | {p50:.0f} | {p99:.0f} | {used:.1f} |",
                    flush=True,
                )
        ratios = [one / other for one, other in zip(rates["pictures"], rates["files"], strict=True)]
        print(
            f"| pictures beside files, median of {options.rounds} | {statistics.median(ratios):.2f} times | | | |\n"
        )
        print(
            "| on a phone | both pictures there, s | their bytes at 10 Mbit/s, s | ratio |\n|---|---|---|---|"
        )
        for source, seconds, least in on_a_phone(servers):
            print(f"| {source} | {seconds:.2f} | {least:.2f} | {seconds / least:.2f} |", flush=True)


if __name__ == "__main__":
    main()
