"""Two servers before one PostgreSQL under load, one of them killed.

Behind nginx, with many workers who think: the figures of docs/scale.md.

PYTHONPATH=. python benchmarks/two_servers.py --client ENV [--participants 1000] [--seconds 60]

ENV is a virtual environment with aiohttp. Database, servers, nginx and the workers share this machine.
"""

import argparse
import tempfile
import threading
import time
from pathlib import Path

from serving_load import SPARE, STUDY, row, walked

from study_app.estimate.content import read_whole_study
from study_app.services.researcher.load import load_study
from study_app.services.researcher.studies import create_keys
from study_app.store.check import check_database
from study_app.store.database import open_database, transaction
from study_app.store.tokens import secret_token, utc_now
from tests.postgres_server import postgres_server
from tests.serving.serving import Serving, serving
from tests.serving.test_two_servers import nginx_before
from tests.study_app.made_once import ready_database


def loaded(url: str) -> str:
    """Load the study of the load test into an empty database; returns its address."""
    database = ready_database(url)
    with transaction(database, write=True) as session:
        create_keys(session, new_token=secret_token)
        load_study(session, read_whole_study(STUDY), now=utc_now())
    database.engine.dispose()
    return url


def killed_for_a_while(server: Serving, after: float) -> None:
    """Kill a server, and start it again ten seconds later."""
    time.sleep(after)
    server.kill()
    time.sleep(10)
    server.start()


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--client", type=Path, required=True)
    parser.add_argument("--participants", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    options.otree, options.think, options.ramp = None, 20.0, 30.0
    print(
        "| run | submissions/s | turn p50 ms | turn p99 ms | post p99 ms | batches | batch p99 ms | faults |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for kills in (False, True):
        with postgres_server(durable=True) as postgres, tempfile.TemporaryDirectory() as name:
            url = loaded(postgres.new_database("load"))
            with (
                serving(url, "--processes", "1") as one,
                serving(url, "--processes", "1") as other,
                nginx_before([one, other], Path(name)) as address,
            ):
                if kills:
                    threading.Thread(target=killed_for_a_while, args=(other, options.seconds / 2)).start()
                urls = [f"{address}/s/load-test?id=w{n}" for n in range(options.participants * SPARE)]
                found = walked(options, urls, Path(name))
            database = open_database(url)
            faults = check_database(database)
            database.engine.dispose()
        print(row("one killed in the middle" if kills else "both up", found), flush=True)
        print(f"database: {'; '.join(faults) or 'whole'}")


if __name__ == "__main__":
    main()
