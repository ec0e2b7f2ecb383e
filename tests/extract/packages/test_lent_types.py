"""Types that headers of another project's package define: whether programs break is decided by that project."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.snapshot import Snapshot
from tests import packages
from tests.build import build_library
from tests.extract.packages.test_packages import snapshots

ENGINE = "#pragma once\nstruct engine {{ {fields} }};\nenum gear {{ {gears} }};\ntypedef {size} engine_size;\n"
OLD = ENGINE.format(fields="int speed;", gears="BACK, FORTH", size="int")
NEW = ENGINE.format(fields="int heat; int speed;", gears="BACK, IDLE, FORTH", size="long")


def release(place: Path, engine: str, texts: tuple[str, str], *, source: str, version: str) -> Snapshot:
    """A release of a library whose header includes that of ``source``."""
    header, code = texts
    built = build_library(engine.removeprefix("#pragma once\n") + header + code, flags=("-O1",))
    library = packages.deb(place, {"usr/lib/libcase.so.1": built}, version=version, control={"Source": "case"})
    devel = place / f"devel-{version}"
    devel.mkdir()
    own = {"usr/include/case.h": f"#include <engine.h>\n{header}".encode(), "usr/lib/libcase.so": "libcase.so.1"}
    depends = f"libcase1 (= {version}), libengine-dev"
    packages.deb(devel, own, name="libcase-dev", version=version, depends=depends, control={"Source": "case"})
    other = {"usr/include/engine.h": engine.encode(), "usr/lib/libengine.so": "libengine.so.1"}
    packages.deb(devel, other, name="libengine-dev", version=version, control={"Source": source})
    (found,) = snapshots(library, devel_packages=(devel,))
    assert found.evidence_of("source").state == "full"
    return found


def verdict(place: Path, header: str, code: str, source: str = "engine") -> str:
    """What is found where the engine changes and a header of the library stays."""
    old = release(place, OLD, (header, code), source=source, version="1.0-1")
    new = release(place, NEW, (header, code), source=source, version="1.1-1")
    return compare(old, new).verdict.name


DRIVE = "int drive(struct engine *engine);", "int drive(struct engine *engine) { return engine->speed; }"

POINTED_TO = [
    DRIVE,
    ("struct engine *build(void);", "struct engine *build(void) { return 0; }"),
    (
        "struct trip { struct engine *engine; }; int begin(struct trip *trip);",
        "int begin(struct trip *trip) { return trip->engine->speed; }",
    ),
    ("extern int (*listener)(struct engine *engine, int step);", "int (*listener)(struct engine *engine, int step);"),
    (
        "typedef struct engine motor; int drive(motor *engine);",
        "int drive(motor *engine) { return engine->speed; }",
    ),
    (
        "int step(int by); static inline int warm(void) { struct engine own = { 1 }; return step(own.speed); }",
        "int step(int by) { return by; }",
    ),
]

LAID_OUT = [
    (
        "struct trip { struct engine engine; int miles; }; int begin(struct trip *trip);",
        "int begin(struct trip *trip) { return trip->miles; }",
    ),
    (
        "struct trip { struct engine legs[2]; }; int begin(struct trip *trip);",
        "int begin(struct trip *trip) { return trip->legs[1].speed; }",
    ),
    ("int drive(struct engine engine);", "int drive(struct engine engine) { return engine.speed; }"),
    ("extern struct engine spare;", "struct engine spare;"),
    ("int weigh(engine_size size);", "int weigh(engine_size size) { return size > 1; }"),
    ("int weigh(engine_size *size);", "int weigh(engine_size *size) { *size = 1; return 0; }"),
    ("int shift(enum gear gear);", "int shift(enum gear gear) { return gear == FORTH; }"),
]


@pytest.mark.parametrize(("header", "code"), POINTED_TO)
def test_a_type_of_another_project_is_not_this_library_s_to_break(tmp_path: Path, header: str, code: str) -> None:
    assert verdict(tmp_path, header, code) in ("COMPATIBLE", "COMPATIBLE_WITH_RISK")


@pytest.mark.parametrize(("header", "code"), LAID_OUT)
def test_a_type_of_another_project_breaks_what_is_made_of_it(tmp_path: Path, header: str, code: str) -> None:
    assert verdict(tmp_path, header, code) == "BREAKING"


def test_a_type_of_a_package_from_the_same_source_is_the_library_s_own(tmp_path: Path) -> None:
    assert verdict(tmp_path, *DRIVE, source="case") == "BREAKING"
