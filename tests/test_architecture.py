"""The shape of the project: who may import whom, and how large a module may grow."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "metrics": set(),
    "calibration": {"metrics"},
    "study_app": {"metrics", "calibration"},
}
MOST_LINES = 400


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> list[tuple[int, str]]:
    """Every absolute name a module imports, wherever in the module it does so."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append((node.lineno, node.module or ""))
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_only_downwards(package):
    """metrics knows nobody, calibration knows metrics, study_app knows both."""
    forbidden = set(MAY_IMPORT) - MAY_IMPORT[package] - {package}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in modules(package)
        for line, name in imported(path)
        if name.split(".")[0] in forbidden
    ]

    assert modules(package)
    assert not wrong


def test_modules_never_import_each_other_in_a_circle():
    """A module's imports, followed to the end, never lead back to it."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in MAY_IMPORT
        for path in modules(package)
    }
    edges = {name: top_level_imports(path, names) - {name} for name, path in names.items()}
    done: set[str] = set()

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above, name])
        if name not in done:
            for target in edges[name]:
                walk(target, (*above, name))
            done.add(name)

    for name in edges:
        walk(name, ())


def top_level_imports(path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of ours that are imported when this one is, from its top level."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return {name for name in found if name in known}


def test_no_module_is_a_god_file():
    """A module that has grown past 400 lines has more than one job."""
    long = {
        str(path.relative_to(ROOT)): lines
        for package in MAY_IMPORT
        for path in modules(package)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }

    assert not long


def test_lock_files_hold_names_versions_and_hashes_only():
    """No address of a package index, and a hash for every package."""
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        pins = [line for line in text.splitlines() if line[:1].isalnum()]

        assert "://" not in text
        assert len(pins) > 20
        assert all("==" in line and line.endswith("\\") for line in pins)
