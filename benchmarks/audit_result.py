"""Say what `make audit` found out: python benchmarks/audit_result.py LOCK RESULT

LOCK is a file of locked requirements, RESULT what pip-audit wrote about it as JSON. Ends with 1 unless each locked package was looked up and
nothing is known against any: a package that was skipped may have every weakness there is.
"""

import json
import re
import sys
from pathlib import Path

LOCKED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==", re.MULTILINE)
SHOWN = 5


def plain(name: str) -> str:
    """Return a package's name as the index writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def result_lines(lock: str, result: str) -> tuple[list[str], bool]:
    """Return the lines to print, and whether all is well.

    Parameters
    ----------
    lock : str
        Text of the locked requirements.
    result : str
        Text of pip-audit's JSON; empty where it wrote none.
    """
    locked = {plain(name) for name in LOCKED.findall(lock)}
    try:
        known = json.loads(result)["dependencies"]
        looked_up = {plain(one["name"]): one["vulns"] for one in known if "skip_reason" not in one}
        reasons = {plain(one["name"]): one["skip_reason"] for one in known if "skip_reason" in one}
    except (ValueError, KeyError, TypeError):
        return [f"0 of {len(locked)} packages were looked up: there is no result that can be read"], False
    weak = {name: [one["id"] for one in found] for name, found in looked_up.items() if found}
    unknown = sorted(locked - looked_up.keys())
    lines = [f"{name}: {', '.join(ids)}" for name, ids in sorted(weak.items())]
    if unknown:
        named = ", ".join(unknown[:SHOWN]) + (", ..." if len(unknown) > SHOWN else "")
        why = reasons.get(unknown[0], "they are not in the result")
        lines.append(f"{len(unknown)} of {len(locked)} packages were not looked up: {named} ({why})")
    lines.append(
        f"{len(locked) - len(unknown)} of {len(locked)} packages were looked up; something is known against {len(weak)} of them"
    )
    return lines, bool(locked) and not unknown and not weak


def main() -> None:
    """Print what was found out, and end with 1 unless all is well."""
    lock, result = map(Path, sys.argv[1:])
    lines, is_well = result_lines(
        lock.read_text(encoding="utf-8"), result.read_text(encoding="utf-8") if result.is_file() else ""
    )
    sys.stderr.write("".join(f"audit: {line}\n" for line in lines))
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
