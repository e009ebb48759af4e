"""Two servers before one PostgreSQL, behind nginx as docs/scale.md has it: one may be killed, and nobody loses anything."""

import random
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import ROOT
from tests.serving.campaign import Told, assert_kept, end_campaign, start_campaign
from tests.serving.serving import Serving, free_port, serving

UPSTREAM = re.search(r"```nginx\n(.*?)```", (ROOT / "docs/scale.md").read_text(encoding="utf-8"), re.DOTALL)
LIMIT = 60


@contextmanager
def nginx_before(servers: list[Serving], folder: Path) -> Iterator[str]:
    """Run nginx with the text of the docs before servers; yields its address."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        pytest.skip("needs nginx")
    upstream = UPSTREAM[1]
    for documented, server in zip(("10.0.0.11:8000", "10.0.0.12:8000"), servers, strict=True):
        assert documented in upstream
        upstream = upstream.replace(documented, f"127.0.0.1:{server.port}")
    port = free_port()
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid; error_log {folder}/error.log; daemon off; events {{ worker_connections 8192; }}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;\n{upstream}"
        f"server {{ listen 127.0.0.1:{port}; proxy_set_header Host $host;\n"
        "location / { proxy_pass http://prefcal; } } }",
        encoding="utf-8",
    )
    with subprocess.Popen([program, "-p", folder, "-c", folder / "nginx.conf"]) as proxy:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            proxy.terminate()


@pytest.mark.soak
def test_a_server_is_killed_and_the_other_goes_on(loaded, durable_postgres, tmp_path):
    """One after the other is killed and started again under load; whatever was acknowledged is there once."""
    url = loaded(durable_postgres.new_database("two"), task={"search_seconds": 0, "workers_per_query": LIMIT})
    told, moments = Told(), random.Random(3)
    with (
        serving(url, "--processes", "1") as one,
        serving(url, "--processes", "1") as other,
        nginx_before([one, other], tmp_path) as address,
    ):
        crowd = start_campaign(address, "small", 2 * LIMIT + 4, told)
        for server in (one, other, one):
            time.sleep(moments.uniform(1, 2))
            server.kill()
            time.sleep(1)
            server.start()
        end_campaign(crowd)
    assert len(told.codes) == 2 * LIMIT
    assert_kept(url, told, limit=LIMIT)


@pytest.mark.soak
def test_while_one_server_is_down_every_page_comes_from_the_other(loaded, durable_postgres, tmp_path):
    """Nobody sees that one is gone: nginx asks the other, forms included."""
    url = loaded(durable_postgres.new_database("down"), task={"search_seconds": 0, "workers_per_query": 8})
    told = Told()
    with (
        serving(url, "--processes", "1") as one,
        serving(url, "--processes", "1") as other,
        nginx_before([one, other], tmp_path) as address,
    ):
        one.kill()
        assert httpx.get(f"{address}/readyz").is_success
        end_campaign(start_campaign(address, "small", 8, told))
    assert (told.broken, dict(told.refusals)) == (0, {})
    assert_kept(url, told, limit=8)
