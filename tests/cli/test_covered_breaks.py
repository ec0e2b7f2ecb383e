"""What somebody accepted opens a gate for that, and for no other break of the same declaration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.build import build_library
from tests.cli.conftest import Call

USE = "\nint use(struct s *p) { return p->x; }\n"


class Triple(NamedTuple):
    """A release, a build whose breaks are accepted, and another build with more than these."""

    base: str
    accepted: str
    other: str
    language: str = "c"


def edited(base: str, accepted: tuple[str, str], *others: tuple[str, str], language: str = "c") -> Triple:
    """Another build has the accepted edit too."""
    first = base.replace(*accepted)
    last = first
    for each in others:
        assert each[0] in last
        last = last.replace(*each)
    return Triple(base, first, last, language)


GROWS = (
    """
struct s { int x; int y; };
struct holder { char tag; struct s inner; int last; };
struct s shared;
int hold(struct holder *h) { return h->last; }
"""
    + USE
)
FLAT = "struct s { int x; int y; int m; int n; };" + USE
EMBEDS = (
    """
struct s { int x; };
struct holder { char tag; struct s inner; int m; int n; };
int hold(struct holder *h) { return h->m; }
"""
    + USE
)
DERIVES = (
    """
struct s { int x; int y; };
struct derived : s { int m; int n; };
int hold(derived *d) { return d->m; }
"""
    + USE
)
TABLE = (
    """
struct s { virtual ~s(); virtual void a(); virtual void b(); virtual void c(); int x; };
s::~s() {}
void s::a() {}
void s::b() {}
void s::c() {}
"""
    + USE
)
GROWN = ("int y;", "int y; int z;")
INSERTED = ("int y;", "int new_one; int y;")
BODY = ("void s::b() {}", "void s::z() {}\nvoid s::b() {}")

HELD: Mapping[str, Triple] = {
    "members change places behind one that is gone": Triple(
        "struct s { int x; int y; long k; int m; int n; };" + USE,
        "struct s { int x; long k; int m; int n; };" + USE,
        "struct s { int x; long k; int n; int m; };" + USE,
    ),
    "a larger alignment": edited(GROWS, GROWN, ("struct s { ", "struct __attribute__((aligned(64))) s { ")),
    "packed": edited(GROWS, GROWN, ("int z; };", "int z; } __attribute__((packed));")),
    "bit-fields without names": edited(GROWS, GROWN, ("int z;", "int z; long : 64; long : 64;")),
    "an aligned member": edited(FLAT, ("int x;", "long x;"), ("int y;", "int y __attribute__((aligned(32)));")),
    "members change places behind one that came": edited(FLAT, INSERTED, ("int m; int n;", "int n; int m;")),
    "members change places where the type is embedded": edited(
        EMBEDS, ("int x;", "int x; int z;"), ("int m; int n;", "int n; int m;")
    ),
    "members change places in a derived class": edited(
        DERIVES, GROWN, ("int m; int n;", "int n; int m;"), language="c++"
    ),
    "another alignment where the type is embedded": edited(
        GROWS, GROWN, ("int last;", "int last __attribute__((aligned(32)));")
    ),
    "functions change places in a vtable": Triple(
        TABLE,
        TABLE.replace("virtual void b();", "virtual void z(); virtual void b();").replace(*BODY),
        TABLE.replace(
            "virtual void b(); virtual void c();", "virtual void z(); virtual void c(); virtual void b();"
        ).replace(*BODY),
        "c++",
    ),
    "enumerators change places": edited(
        "enum e { A, B, C, D };\nint paint(enum e e) { return e; }",
        ("A, B", "A, NEW, B"),
        ("C, D", "D, C"),
    ),
    "an enumerator gets a value": edited(
        "enum e { A, B, C, D };\nint paint(enum e e) { return e; }", ("A, B", "A, NEW, B"), ("D }", "D = 9 }")
    ),
    "a new member's new type is larger": edited(FLAT, ("int y;", "struct { int k[2]; } w; int y;"), ("k[2]", "k[20]")),
    "another member": edited(FLAT, INSERTED, ("int n;", "int n; int further;")),
    "an array's length": edited(FLAT, ("int n;", "int n[4];"), ("n[4]", "n[5]")),
    "the other constructor": Triple(
        "struct s { s(); s(int); int x; };\ns::s() {}\ns::s(int) {}" + USE,
        "struct s { s(); int x; };\ns::s() {}" + USE,
        "struct s { int x; };" + USE,
        "c++",
    ),
    "another way to be passed": edited(
        "struct s { int x; int y; ~s() = default; };\nint by_value(s v) { return v.x; }" + USE,
        ("int y;", "int y; int z;"),
        ("~s() = default;", "~s() {}"),
        language="c++",
    ),
}


BREAKS = ("breaking", "api_break")

VALUES = frozenset({"a new member's new type is larger", "an array's length"})
"""What differs in a value alone: a suppression names a member and a kind of change, and no values."""


def library(source: str, language: str) -> Path:
    return build_library(source, language=language)


@pytest.mark.parametrize("name", HELD)
def test_what_is_accepted_lets_nothing_else_pass(name: str, abistore: Call, tmp_path: Path) -> None:
    base, accepted, other = (library(each, HELD[name].language) for each in HELD[name][:3])
    assert abistore("ingest", base, "--version", "1.0", "--set-baseline").code == 0
    stored = abistore("ingest", accepted, "--version", "1.1", "--against", "baseline", "--keep-failed", "--json")
    found = [
        each for each in stored.json["files"][0]["verdict"]["changes"] if each["impact"] in ("breaking", "api_break")
    ]
    assert found, "the accepted build breaks something"

    since = ("--merge-base", "1.1", "--introduced-only")
    assert abistore("gate", accepted, "--version", "1.2", *since).code == 0
    assert abistore("gate", other, "--version", "1.2", *since).code in (2, 4)

    known = tmp_path / "known.yaml"
    known.write_text(json.dumps({"suppressions": [entry(each) for each in found]}))
    left = [abistore("compare", base, each, "--suppress", known, "--json").json for each in (accepted, other)]
    before, after = ({each["id"] for each in side["changes"] if each["impact"] in BREAKS} for side in left)
    assert (after <= before) is (name in VALUES)

    for each in found:
        assert (
            abistore("approve", each["id"], "--library", "libcase", "--reason", "meant", "--approver", "ana").code == 0
        )
    assert abistore("gate", accepted, "--version", "1.2").code == 0
    assert abistore("gate", other, "--version", "1.2").code in (2, 4)


def entry(finding: Mapping[str, str]) -> dict[str, str]:
    """A suppression of one finding and of nothing else."""
    about = "symbol" if finding["subject"] in ("function", "variable") else "type"
    member = {"member": finding["part"]} if finding["part"] else {}
    return {about: finding["symbol"], **member, "change_kind": finding["kind"], "reason": "meant"}
