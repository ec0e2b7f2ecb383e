"""Witnesses of small libraries: what each sort shows, what is refuted, and what stays unsaid."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.errors import SnapshotNotFound
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.interface import Witness, witnesses
from abistore.model.snapshot import Target
from abistore.service.snapshots import Selection
from abistore.service.witnesses import headers_of
from abistore.witness import compilers
from tests.build import build_library

HEADER = """
struct point { int x; int y; };
typedef struct { unsigned a : 3; unsigned b : 5; } flags_t;
enum colour { RED, GREEN };
#define LIMIT 3
int norm(const struct point *point, flags_t *flags);
int gone(int a);
long wide(enum colour colour);
"""
NEW_HEADER = (
    HEADER.replace("int y;", "int z; int y;")
    .replace("a : 3", "a : 4")
    .replace("RED, GREEN", "GREEN, RED")
    .replace("LIMIT 3", "LIMIT 4")
    .replace("int gone(int a);\n", "")
)
SOURCE = """
#include "geo.h"
int norm(const struct point *point, flags_t *flags) { return point->x + (int)flags->a; }
long wide(enum colour colour) { return colour; }
"""
GONE = "int gone(int a) { return a; }\n"


def built(source: str, header: str, **options: str) -> Path:
    return build_library(source, files={"geo.h": header}, **options)


def headers(library: Path) -> HeaderOptions:
    return HeaderOptions((library.parent / "geo.h",))


def shown(old: Path, new: Path, *, with_headers: bool, findings: tuple[str, ...] = ()) -> dict[str, Witness]:
    """The witnesses of all breaks, by kind."""
    first, second = (headers(old), headers(new)) if with_headers else (None, None)
    selection = Selection(options=ExtractOptions(), old_headers=first, new_headers=second)
    return {each.kind: each for each in witnesses(old, new, selection=selection, findings=findings).witnesses}


@pytest.fixture(scope="module")
def pair() -> tuple[Path, Path]:
    return built(SOURCE + GONE, HEADER), built(SOURCE, NEW_HEADER)


@pytest.mark.parametrize("with_headers", [True, False])
def test_a_field_that_was_inserted_moves_what_a_program_reads(pair: tuple[Path, Path], with_headers: bool) -> None:
    found = shown(*pair, with_headers=with_headers)["type_field_added"]
    assert (found.state, found.sort) == ("shown", "layout")
    assert (found.before, found.after) == (
        "sizeof(struct point) = 8\noffsetof(struct point, y) = 4\n",
        "sizeof(struct point) = 12\noffsetof(struct point, y) = 8\n",
    )
    assert found.declarations == ("headers" if with_headers else "snapshot")
    assert bool(found.files) != with_headers
    lines = found.program.splitlines()
    assert [lines[each - 1].strip() for each in found.lines] == ["sizeof(struct point),", "offsetof(struct point, y),"]


def test_values_and_bits_are_those_that_programs_have(pair: tuple[Path, Path]) -> None:
    found = shown(*pair, with_headers=True)
    assert found["enum_member_value_changed"].after == "RED = 1\nGREEN = 0\n"
    assert found["field_bitfield_changed"].before.startswith("flags_t { .a = -1 } = 07 ")
    assert found["field_bitfield_changed"].after.startswith("flags_t { .a = -1 } = 0f ")
    assert (found["constant_changed"].before, found["constant_changed"].after) == ("LIMIT = 3\n", "LIMIT = 4\n")


def test_a_function_that_was_removed_is_missed_by_the_linker(pair: tuple[Path, Path]) -> None:
    found = shown(*pair, with_headers=True)["func_removed"]
    assert (found.state, found.sort) == ("shown", "link")
    assert "int old_user(int a1) { return gone(a1); }" in found.program
    assert (found.before, found.after) == ("links\n", "undefined reference to `gone'")


def test_another_soname_is_not_found_by_the_dynamic_linker() -> None:
    old = built(SOURCE, HEADER, soname="libcase.so.1")
    new = built(SOURCE, HEADER, soname="libcase.so.2")
    found = shown(old, new, with_headers=False, findings=("soname_changed",))["soname_changed"]
    assert (found.state, found.sort, found.before) == ("shown", "load", "loads\n")
    assert found.after.startswith("libcase.so.1 => not found")


def test_a_slot_of_a_vtable_is_what_a_pointer_to_the_member_holds() -> None:
    declared = "struct Stream {{ virtual int read(); {}virtual int close(); }};"
    bodies = "int Stream::read() { return 0; }\nint Stream::close() { return 0; }\n"
    old = build_library(f"{declared.format('')}\n{bodies}", language="c++")
    added = "int Stream::write(int) { return 0; }\n"
    new = build_library(f"{declared.format('virtual int write(int); ')}\n{bodies}{added}", language="c++")
    found = shown(old, new, with_headers=False)["virtual_method_added.inner"]
    assert (found.state, found.language) == ("shown", "c++")
    assert (found.before, found.after) == ("slot of Stream::close = 1\n", "slot of Stream::close = 2\n")


def test_without_a_compiler_programs_are_written(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "compiler", lambda language, target=None: None)
    found = shown(*pair, with_headers=True)["type_field_added"]
    assert (found.state, found.before, found.compiler) == ("written", "", "")
    assert found.reason == "no compiler for its platform is installed: the program was not compiled"
    assert "sizeof(struct point)" in found.program


def test_a_header_that_includes_a_file_elsewhere_shows_nothing_of_it(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a very private_word here\n")
    old, new = built(SOURCE + GONE, HEADER), built(SOURCE, NEW_HEADER)
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "geo.h").write_text(f'#include "{secret}"\n{HEADER}')
    workshop = compilers.Workshop(tmp_path / "work")
    workshop.folder.mkdir()
    workshop.write({"a.c": '#include "geo.h"\n'})
    refused = workshop.compile("a.c", "a.o", [f"-I{folder}"], "c")
    assert (refused.succeeded, refused.error) == (False, compilers.OUTSIDE)
    assert old != new


def test_a_command_has_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "SECONDS", 1)
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    workshop = compilers.Workshop(tmp_path)
    found = workshop._run(["sh", "-c", "while :; do :; done"])
    assert not found.succeeded


def test_a_finding_that_is_not_there_is_said(pair: tuple[Path, Path]) -> None:
    with pytest.raises(SnapshotNotFound, match="no finding frobnicate"):
        witnesses(*pair, findings=("frobnicate",))


def test_a_program_for_another_platform_has_its_compiler_or_none() -> None:
    assert compilers.CROSS["s390x"] == "s390x-linux-gnu"
    assert not compilers.is_native(Target("elf", "s390x", 64, "big"))
    assert compilers.compiler("c", Target("elf", "m68k", 32, "big")) is None
    assert compilers.compiler("c", Target("macho", "aarch64", 64, "little")) is None
    assert compilers.compiler("c", Target("elf", "any", 64, "little")) == compilers.compiler("c")


def test_headers_that_include_themselves_end(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "a.h"\n')
    workshop = compilers.Workshop(tmp_path)
    workshop.write({"w.c": '#include "a.h"\n'})
    found = workshop.compile("w.c", "w.o", ["-I."], "c")
    assert not found.succeeded
    assert len(found.error) <= compilers.MOST_SAID


def test_programs_include_the_headers_that_are_read_and_no_other(tmp_path: Path) -> None:
    for name in ("a.h", "b.cuh", "detail/c.h", "x/d_p.h", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("int f(void);\n")
    texts, flags = headers_of(HeaderOptions((tmp_path,), private=("detail", "*_p.h"), defines=("DEEP",)))
    assert (sorted(texts), flags) == (["a.h", "b.cuh"], (f"-I{tmp_path.resolve()}", "-DDEEP"))


def test_headers_of_other_projects_may_be_included(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "other.h").write_text("typedef int other_t;\n")
    library = built('#include "geo.h"\nint f(int a) { return a; }\n', "int f(int a);\n")
    workshop = compilers.Workshop(library.parent)
    (library.parent / "use.c").write_text('#include "other.h"\nother_t use;\n')
    for option in ("-I", "-isystem", "-idirafter"):
        assert workshop.compile("use.c", "use.o", [f"{option}{other}"], "c").succeeded
