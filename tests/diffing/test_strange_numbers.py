"""Numbers in labels, version tags and mangled names are compared as numbers, and none is too strange to be compared."""

from __future__ import annotations

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.diffing.renamed_exports import parsed, raises_floor
from abistore.model.names.symbols import mangled_scope
from tests.diffing.model import INT, function, snapshot, uses

SAME = snapshot({function("use"): uses(INT)})
ENDLESS = "9" * 5_000


def kinds(old: str, new: str) -> list[str]:
    """What comparing one library under two labels finds."""
    sides = (msgspec.structs.replace(SAME, version=label) for label in (old, new))
    return [finding.kind for finding in compare(*sides).findings]


@pytest.mark.parametrize(("old", "new"), [("1.10.0", "1.9.2"), ("v2", "1.9"), ("2.0.1", "2.0")])
def test_a_lower_label_is_told(old: str, new: str) -> None:
    assert kinds(old, new) == ["library_version_downgraded"]


@pytest.mark.parametrize(
    ("old", "new"),
    [("1.9.2", "1.10.0"), ("1.0.0", "1.0"), ("1.0", "1.0.0"), ("2.0-rc1", "1.0"), ("2.²", "1.1"), (ENDLESS, "1")],
)
def test_labels_that_are_not_lower_or_no_numbers_are_left_alone(old: str, new: str) -> None:
    assert kinds(old, new) == []


def test_a_version_tag_is_its_family_and_its_number() -> None:
    assert parsed("GLIBC_2.34") == ("GLIBC_", (2, 34))
    assert parsed("LIBFOO_1_2") == ("LIBFOO_1_", (2,))
    assert parsed("GLIBC_PRIVATE") == ("GLIBC_PRIVATE", ())


def test_a_version_tag_of_endless_digits_is_a_family_of_its_own() -> None:
    assert parsed(f"GLIBC_{ENDLESS}") == (f"GLIBC_{ENDLESS}", ())
    assert raises_floor(f"GLIBC_{ENDLESS}", ["GLIBC_2.34"])


@pytest.mark.parametrize("symbol", [f"_Z{ENDLESS}", f"_ZN{ENDLESS}E", f"_ZN{ENDLESS}3fooEv", "_Z²x"])
def test_a_mangled_name_of_endless_digits_is_compared(symbol: str) -> None:
    old = snapshot({function(symbol): uses(INT), function("use"): uses(INT)})
    assert [finding.kind for finding in compare(old, SAME).findings] == ["func_removed"]
    assert mangled_scope(symbol)[1] is False


@pytest.mark.parametrize(
    ("version", "machine", "raises"),
    [
        ("GLIBC_2.2.5", "x86_64", False),
        ("GLIBC_2.4", "x86_64", False),
        ("GLIBC_2.17", "x86_64", True),
        ("GLIBC_2.17", "aarch64", False),
        ("GLIBC_2.18", "aarch64", True),
        ("GLIBC_2.27", "riscv64", False),
        ("GLIBC_2.36", "loongarch64", False),
        ("LIBFOO_1", "aarch64", True),
    ],
)
def test_a_version_that_every_system_of_a_machine_has_raises_no_floor(version: str, machine: str, raises: bool) -> None:
    assert raises_floor(version, [], machine) is raises
