"""The shape of the project: which rooms there are, and who may import whom."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("metrics", "calibration", "study_app", "prefcal")
FRONTS = [
    ROOT / package / "__init__.py" for package in PACKAGES
]  # hand out what others use of a package, when it is asked for


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def rooms() -> dict[str, int]:
    """The table of docs/architecture.md: folder -> its place in the order."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return {room: int(order) for order, room in re.findall(r"^\| (\d+) \| `([\w/]+)` \|", text, re.MULTILINE)}


@cache
def room_of(path: Path) -> str:
    """The nearest folder above a module that the table names."""
    return next(str(folder) for folder in path.relative_to(ROOT).parents if str(folder) in rooms())


def imported(path: Path) -> list[tuple[int, Path]]:
    """The modules of ours that a module imports, wherever in the module it does so."""
    names = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return [(line, file) for line, name in names if (file := file_of(name))]


@cache
def file_of(name: str) -> Path | None:
    """The module that a dotted name is or lies in, None when it is not ours."""
    if name.split(".", maxsplit=1)[0] not in PACKAGES:
        return None
    place = ROOT.joinpath(*name.split("."))
    candidates = [place.with_suffix(".py"), place / "__init__.py", place.parent.with_suffix(".py")]
    return next((file for file in candidates if file.is_file()), place.parent / "__init__.py")


def test_rooms_use_only_rooms_before_them():
    """Imports point to rooms with a smaller number; rooms with the same number do not know each other."""
    order = rooms()
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {file.relative_to(ROOT)}"
        for package in PACKAGES
        for path in modules(package)
        for line, file in imported(path)
        if path not in FRONTS
        and room_of(file) != room_of(path)
        and order[room_of(file)] >= order[room_of(path)]
    ]

    assert not wrong


def test_every_room_of_the_table_is_a_folder_that_says_what_it_holds():
    """And every folder of modules is one of these rooms or lies in one of them."""
    for room in rooms():
        assert ast.get_docstring(parsed(ROOT / room / "__init__.py")), room
    tops = {path for package in PACKAGES for path in (ROOT / package).iterdir() if any(path.glob("*.py"))}

    assert {str(path.relative_to(ROOT)) for path in tops} | set(PACKAGES) == set(rooms())


def test_modules_never_import_each_other_in_a_circle():
    """A module's imports, followed to the end, never lead back to it."""
    edges = loaded_first()
    done: set[str] = set()

    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join([*above, name])
        if name not in done:
            for target in edges[name]:
                walk(target, (*above, name))
            done.add(name)

    for name in edges:
        walk(name, ())


def test_a_report_starts_without_what_scores_and_fits():
    """It shows what `agree`, `rank` and `fit` wrote, so it need not wait until their methods are loaded."""
    edges, reached, left = loaded_first(), set(), ["study_app.report.build"]
    while left:
        new = edges[left.pop()] - reached
        reached |= new
        left += new

    assert "calibration.agree.result" in reached
    assert not reached & {
        "calibration.agree.agree_tables",
        "calibration.agree.score_sources",
        "calibration.rank.ranking",
        "calibration.fit.user_model_fit",
    }


@cache
def loaded_first() -> dict[str, set[str]]:
    """Each module -> those of ours that are loaded with it."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in PACKAGES
        for path in modules(package)
    }
    return {name: top_level_imports(path, names) - {name} for name, path in names.items()}


def top_level_imports(path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of ours that are imported when this one is, from its top level."""
    found = set()
    for node in parsed(path).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return {name for name in found if name in known}


def test_lock_files_hold_names_versions_and_hashes_only():
    """No address of a package index, and a hash for every package."""
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        pins = [line for line in text.splitlines() if line[:1].isalnum()]

        assert "://" not in text
        assert pins
        assert all("==" in line and line.endswith("\\") for line in pins)


def test_no_class_name_stands_twice():
    """A name says which class is meant, wherever it is read."""
    names = [
        node.name
        for package in PACKAGES
        for path in modules(package)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []
