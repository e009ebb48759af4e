"""A judge to try the way with: the longer side wins, with noise that depends on the request alone.

`prefcal judge run requests.jsonl -o answers.jsonl --command "python -m study_app.judges.longer"` starts it. It is also an example of a judge:
a line comes in for each request, and a line goes out for each answer.
"""

import json
import random
import re
import sys

NOISE = 0.25
"""So often the other side wins."""


def main() -> None:
    """Answer the requests that stand on the lines of the standard input."""
    for line in sys.stdin:
        request = json.loads(line)
        text = str(request["messages"][-1]["content"])
        a, b = (re.findall(rf"<{side}>(.*?)</{side}>", text, re.DOTALL)[0] for side in "AB")
        winner, loser = ("A", "B") if len(a) >= len(b) else ("B", "A")
        is_other = random.Random(request["id"]).random() < NOISE
        choice = min(each for each in request["choices"] if each.startswith(loser if is_other else winner))
        answer = {"id": request["id"], "choice": choice, "model": "longer-text"}
        if "criteria" in request:
            answer["criteria"] = dict.fromkeys(request["criteria"], choice)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
