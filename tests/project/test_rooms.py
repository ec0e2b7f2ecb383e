"""A folder is a subject that people can name, and a module is read by itself."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tests.project.test_circles import imports
from tests.project.trees import PACKAGE, SOURCES

MOST_FILES = 369
MOST_FOLDERS = 31
DEEPEST = 3
SHORT = 100
MODULES = [path for path in SOURCES if path.name != "__init__.py"]


def folders() -> set[Path]:
    """The folders of the package that hold files."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.parent for path in files}


def test_the_package_has_few_files_and_folders() -> None:
    assert len(SOURCES) <= MOST_FILES
    assert len(folders()) <= MOST_FOLDERS


def test_no_module_lies_below_the_third_level() -> None:
    assert [path for path in SOURCES if len(path.relative_to(PACKAGE).parts) > DEEPEST] == []


def test_a_short_module_serves_several() -> None:
    """One that a single other module imports is a part of that, but for entry points and formats of reports."""
    users: dict[str, set[str]] = defaultdict(set)
    for name, imported in imports(PACKAGE).items():
        for each in imported:
            users[each].add(name)
    short = [path for path in MODULES if len(path.read_text().splitlines()) < SHORT]
    names = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in short}
    assert [path for path, name in names.items() if len(users[name]) == 1 and path.stem != "entry"] == []
