"""A folder with four systems' streams of two events, and the people who were fitted to visit them."""

import json

from calibration.user_model.model import ParameterEntry, UserModel, write_user_model
from tests.study_app.small_streams import DAY, HOUR, START

SYSTEMS = {"prompt": (0, 1), "late": (30, 1), "chatty": (0, 4), "quiet": (2, 0)}
"""System -> hours that it is late, and how many empty updates it tells beside each."""

NO_PROMPTS = "worker,topic,sent_at\n"


def write_stream_folder(folder):
    """Write two events of four days, the last silent; four systems; people who come every six hours."""
    tables = folder / "tables"
    tables.mkdir()
    topics = ("TS14.91", "TS14.92")
    collection = {kind: [] for kind in ("nuggets", "matches", "updates")}
    runs = {system: [] for system in SYSTEMS}
    xml = ""
    for topic in topics:
        xml += f"<event><id>{topic}</id><title>x</title><start>{START}</start><end>{START + 4 * DAY}</end></event>"
        for number in range(8):
            hour = 8 * number
            collection["nuggets"].append((topic, f"N{number}", START + hour * HOUR, 1, 3, "fact"))
            for system, (late, chatter) in SYSTEMS.items():
                if system == "quiet" and number % 2:
                    continue
                told = START + (hour + late) * HOUR + 600
                document = f"{told}-{system}"
                for place in range(chatter + 1):
                    update = f"{document}-{place}"
                    collection["updates"].append(
                        (topic, update, document, place, 9, "NULL", "four words of text")
                    )
                    if place == 0:
                        collection["matches"].append((topic, update, f"N{number}", 0, 3, 0))
                    runs[system].append(f"{topic} team {system} {document} {place} {told} 1.0")
    (folder / "topics.xml").write_text(f"<events>{xml}</events>")
    for kind, rows in collection.items():
        (folder / f"{kind}.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    for system, lines in runs.items():
        (folder / f"{system}.run").write_text("\n".join(lines) + "\n")
    task = {
        "kind": "stream_pairs",
        "language": "en",
        "collection": {"topics": {"path": "../topics.xml"}}
        | {kind: {"path": f"../{kind}.tsv"} for kind in collection},
        "systems": {system: {"path": f"../{system}.run"} for system in SYSTEMS},
        "protocol": {"reveal_silent_days": "random"},
    }
    record = {"study": "streams", "tasks": {"news": task, "visits": task | {"kind": "stream_visits"}}}
    (tables / "study.json").write_text(json.dumps(record))
    (tables / "prompts.csv").write_text(NO_PROMPTS)
    parameters = {
        "away_mean_seconds": 6.0 * HOUR,
        "away_sd_seconds": 3.0 * HOUR,
        "session_mean_seconds": 60.0,
        "session_sd_seconds": 30.0,
        "lateness_decay": 0.4,
        "push_alpha": 0.8,
    }
    model = UserModel(parameters={name: ParameterEntry(estimate=value) for name, value in parameters.items()})
    write_user_model(model, folder / "user-model.json")
    return folder
