"""``*.abignore`` that packages ship: named in reports, and applied only where somebody asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.errors import PolicyError
from abistore.service.comparing import compare
from abistore.service.ruling import ruling
from tests import packages
from tests.build import build_library
from tests.cli.conftest import NEW, OLD

IGNORED = b"[suppress_type]\n  name = point\n  label = only the library makes points\n"
PLACE = "usr/share/libcase/libcase.abignore"
GONE = b"[suppress_function]\n  name = gone\n  label = never documented\n"


def package(folder: Path, source: str, version: str, **files: bytes) -> Path:
    """A Debian package of one library with these files of suppressions."""
    inside: dict[str, Path | bytes | str] = {"usr/lib/libcase.so.1": build_library(source)}
    inside |= {f"usr/share/libcase/{name}.abignore": content for name, content in files.items()}
    return packages.deb(folder, inside, version=version)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return package(tmp_path, OLD, "1.0", libcase=IGNORED), package(tmp_path, NEW, "1.1", libcase=IGNORED, more=GONE)


def test_shipped_suppressions_are_named_and_do_not_apply(sides: tuple[Path, Path]) -> None:
    old, new = sides
    found = compare(old, new)
    assert {each.kind for each in found.changes} >= {"func_removed", "type_field_added"}
    assert not found.suppressed
    notes = [each for each in found.notes if "ships suppressions" in each]
    assert notes == [
        f"{old.name} ships suppressions, which apply only with --suppress {old.name}: {PLACE}",
        f"{new.name} ships suppressions, which apply only with --suppress {new.name}: {PLACE} and 1 more",
    ]


def test_those_of_a_named_package_apply_and_are_told_with_their_digest(sides: tuple[Path, Path]) -> None:
    old, new = sides
    found = compare(old, new, by=ruling(suppress=[str(old)]))
    assert {each.kind for each in found.changes if each.impact == "breaking"} == {"func_removed"}
    assert [each.display for each in found.suppressed] == ["point"]
    assert [each.name for each in found.suppression_files] == ["libcase.abignore"]


def test_a_folder_may_ship_them_too(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    folder = packages.folder(tmp_path / "sources", {"abi/libcase.abignore": IGNORED + GONE})
    assert not [
        each for each in compare(*sides, by=ruling(suppress=[str(folder)])).changes if each.impact == "breaking"
    ]


def test_a_package_without_any_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="ships no suppressions"):
        ruling(suppress=[str(package(tmp_path, OLD, "1.0"))])
