"""docs/security.md promises only what a test shows, and states what its campaign did."""

import ast
import json
import re
from pathlib import Path

import pytest

from benchmarks.fuzz import TARGETS
from study_app.web.serving import LARGE_BODIES

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
DEPLOYMENT = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)


def functions_of(file):
    """Return the names of the tests that stand in a file."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_every_test_that_is_named_exists(file):
    """Renaming a test takes its promise along."""
    assert {name for named, name in NAMED if named == file} <= functions_of(file)


def test_everybody_who_might_want_something_is_named():
    """A threat that is left out is one that nobody looks at."""
    table = PAGE.split("## Who might want what")[1].split("\n## ")[0]
    named = {line.split("|")[1].strip() for line in table.splitlines() if "::test_" in line}
    assert named == {
        "a worker",
        "an outsider",
        "a co-tenant of the machine",
        "somebody with a leaked backup",
        "somebody with the published tables and the platform's list",
        "the author of a hostile file",
        "a careless researcher",
    }


def test_every_promise_names_a_test():
    """A row of a table without one would be a claim."""
    rows = [
        line
        for line in PAGE.splitlines()
        if line.startswith("| ") and "shown by |" not in line and "| inputs |" not in line
    ]
    promises = [row for row in rows if not re.match(r"\| [A-Za-z, ]+ \|( +[0-9,]+ \|)+$", row)]
    assert len(promises) >= 35
    assert [row for row in promises if "::test_" not in row] == []


@pytest.mark.parametrize(
    "file", sorted(path.name for path in (ROOT / "tests/study_app/attackers").glob("test_attackers*.py"))
)
def test_every_test_of_an_attack_stands_on_the_page(file):
    """What was tried is worth saying; helpers that only count are not."""
    said = {name for named, name in NAMED if named == f"study_app/attackers/{file}"}
    made = {name for name in functions_of(f"study_app/attackers/{file}") if name.startswith("test_")}
    assert made - said <= {
        "test_there_are_addresses_to_attack",
        "test_markup_that_is_written_escaped_stays_escaped",
    }


def test_the_campaign_has_the_inputs_that_the_page_states():
    """For every target, and no finding left; it was run with twenty times the inputs of a campaign by default."""
    stated = re.findall(
        r"^\| ([A-Za-z, ]+) \| +([\d,]+) \| +[\d,]+ \| +[\d,]+ \| +0 \|$", PAGE, flags=re.MULTILINE
    )
    assert [(name, int(inputs.replace(",", ""))) for name, inputs in stated] == [
        (target.name, 20 * target.inputs) for target in TARGETS
    ]


def test_the_proxies_of_the_deployment_page_keep_no_addresses_and_pass_on_their_own_name():
    """Both were run as they stand; a line that is lost would be noticed by nobody until it is too late."""
    [nginx] = re.findall(r"```nginx\n(.*?)```", DEPLOYMENT, flags=re.DOTALL)
    [caddy] = re.findall(r"```\n(\{.*?reverse_proxy.*?)```", DEPLOYMENT, flags=re.DOTALL)
    servers = nginx.split("\nserver {")[1:]
    assert len(servers) == 2
    for server in servers:
        assert "access_log off;" in server
        assert "error_log /var/log/nginx/error.log emerg;" in server
        assert "$host" not in server
        assert "$http_host" not in server
    assert "proxy_set_header Host $server_name;" in servers[0]
    assert "proxy_set_header X-Forwarded-Proto $scheme;" in servers[0]
    [(place, large)] = re.findall(r"location ~ (\S+) \{(.*?)\}", servers[0], flags=re.DOTALL)
    assert "proxy_request_buffering off;" in large
    assert servers[0].count("proxy_request_buffering off;") == 1
    routes = json.loads((ROOT / "docs" / "routes.json").read_text(encoding="utf-8"))["paths"]
    operations = {route: does["post"]["operationId"] for route, does in routes.items() if "post" in does}
    uploads = [route for route, name in operations.items() if name.replace("_", ".", 1) in LARGE_BODIES]
    assert uploads == [route for route in routes if re.search(place, re.sub(r"[{}]", "", route))]
    assert len(uploads) == 1
    assert "limit_req zone=entry" in servers[0].partition("location /s/")[2]
    assert "limit_req zone=events" in servers[0].partition("location /e/")[2]
    assert "max_size 64KiB" in caddy.partition("request_body /e/*")[2]
    assert "exclude http.log.error http.handlers.reverse_proxy" in caddy
