"""A campaign of 1,000 submissions on Prolific's API as it is documented, killed at each step, over a line that fails.

python benchmarks/prolific_kills.py [--people 1000] [--batch 20] [--seed 1]

Each command runs in a process of its own that ends before or after some transaction or call; calls are cut, fail or are refused before and
after their effect, and payments come later. After each command it is looked whether anybody was paid twice, or is paid and yet to be paid, or unknown
without an open call. In the end a person settles what is unknown.
"""

import argparse
import os
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from study_app.prolific import sending
from tests.study_app.conftest import Campaign
from tests.study_app.prolific.campaign_rows import add_people, person, submission
from tests.study_app.prolific.killed_campaign import KilledCampaign, go_through
from tests.study_app.prolific.prolific_server import TOKEN, prolific_server
from tests.study_app.small_study import votes_task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sending.BATCH = given.batch
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, prolific_server() as there:
        study = Campaign(Path(folder), f"sqlite:///{folder}/campaign.sqlite3")
        study.load(
            platform="prolific", tasks=[votes_task()], completion_code="CDONE", reward=1, currency="GBP"
        )
        study.serve()
        os.environ |= {"PREFCAL_PROLIFIC_TOKEN": TOKEN, "PREFCAL_PROLIFIC_API": there.base}
        there.study()
        there.is_slow = True
        add_people(study.database, given.people, now=datetime.now(UTC))
        study.database.engine.dispose()
        for number in range(1, given.people + 1):
            there.submit(submission(number), person(number))
        made = KilledCampaign(
            study.url, there, seed=given.seed, more=0.0005, faulty=0.005, payments_faulty=0.15
        )
        figures = go_through(made)
        there.settle()
        twice = sum(times > 1 for times in there.times_paid.values())
        print(f"people {given.people}, in batches of {given.batch}: {time.monotonic() - began:.0f} s")
        print(
            f"commands {figures.commands}, killed {figures.kills.total()} at {len(figures.kills)} kinds of step"
        )
        for where, times in sorted(figures.kills.items()):
            print(f"  {times:>5}  {where}")
        print(f"calls that failed: {dict(sorted(figures.faults.items()))}; calls in all {len(there.calls):,}")
        print(
            f"calls that pay or approve without an answer {figures.open_calls}, with {figures.in_them} orders; unknown {figures.unknown}"
        )
        print(
            f"of these seen on the platform {figures.seen}, released by a person in the end {figures.released}"
        )
        print(
            f"approved {len(set(there.approved))}, bonuses {len(there.times_paid)}, paid twice {twice}, missing {made.missing()}"
        )


if __name__ == "__main__":
    main()
