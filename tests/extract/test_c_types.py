"""BTF and CTF: read as DWARF of the same library is, where there is no DWARF, and never trusted."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import ElfFile
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.shapes import Enum, Function, Record
from abistore.model.snapshot import Snapshot
from benchmarks.dumps import told
from tests.build import build_library
from tests.extract.damage import outcomes, tighten
from tests.extract.foreign.reading import assert_no_change

FORMS = ("btf", "ctf")
OPTIONS = ExtractOptions(library="libcase")
SOURCE = """
#include <stdarg.h>
enum color { RED = -1, GREEN = 3 };
enum big { BIG = 0x100000000ULL, SMALL = 1 };
enum __attribute__((packed)) tiny { TOP = 200 };
typedef struct point { int x, y; } point_t;
typedef enum { A1, A2 } choice_t;
typedef struct { int a; } first, second;
typedef struct { int q; } *handle_t;
typedef int (*callback)(void *, const struct point *, ...);
typedef int vector __attribute__((vector_size(16)));
struct opaque;
union any { int i; double d; float f; long double l; _Bool b; };
struct bits { unsigned a : 3; int b : 5; enum color c : 4; long long d : 40; };
struct holes { long long a : 3; int : 5; int b : 20; unsigned char c : 2; };
struct packed { char c; int x : 7; short z; } __attribute__((packed));
struct aligned { char c; } __attribute__((aligned(16)));
struct node {
  struct node *next; const char *name; volatile int *restrict r; int grid[3][4]; struct opaque *o;
  struct { int in; union { int q; char w; }; }; struct { short s; } named; int rest[];
};
int global = 3;
const char *const names[4];
int (*chosen)(int (*)(first *), char **);
int take(struct node *n, point_t p, enum color c, choice_t a, ...) { return n->grid[0][0] + p.x; }
union any *make(callback cb, unsigned char *x, signed char s, unsigned long u, char plain) { return 0; }
void nothing(void) {}
int old() { return 1; }
static int hidden(struct bits *b) { return b->a; }
int bits(struct bits *b, enum big *e, enum tiny t) { return hidden(b); }
int more(struct holes h, struct packed *p, struct aligned *a) { return h.a; }
int typedefs(first *a, second *b, handle_t h) { return a->a; }
int forward(va_list list) { return 0; }
vector turned(vector v, int n, int list[n]) { return v; }
_Atomic int counter;
double _Complex rotated(double _Complex z) { return z; }
extern int alias(struct bits *) __attribute__((alias("target")));
int target(struct bits *b) { return 0; }
"""
OTHER = """
struct point { double x, y, z; };
struct opaque { long inside; };
static int hidden(struct point *p, int z) { return p->x; }
int other(struct point *p) { return hidden(p, 2); }
void open(struct opaque *o) {}
"""


def built(form: str, source: str = SOURCE, *flags: str, compiler: str | None = None) -> Path:
    """A library of two source files with debug information of one form: ``btf``, ``ctf``, or DWARF (empty)."""
    flags = (f"-g{form}", "-O1", "-nostdlib", "other.c", *flags)
    return build_library(source, flags=flags, files={"other.c": OTHER}, compiler=compiler)


def read(library: Path) -> Snapshot:
    return read_snapshot(library, OPTIONS)


@pytest.mark.parametrize("form", FORMS)
def test_what_btf_and_ctf_leave_out_is_no_change(form: str) -> None:
    assert_no_change(read(built("")), read(built(form)))


def test_btf_and_ctf_of_one_library_are_no_change() -> None:
    assert_no_change(read(built("btf")), read(built("ctf")))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compiler", ["i686-linux-gnu-gcc", "s390x-linux-gnu-gcc"])
def test_other_widths_and_byte_orders_are_no_change(compiler: str, form: str) -> None:
    """In CTF of i386, the linker takes a ``long double`` for 16 bytes, and makes the union around it as large."""
    source = SOURCE.replace("long double l", "int l") if form == "ctf" else SOURCE
    assert_no_change(read(built("", source, compiler=compiler)), read(built(form, source, compiler=compiler)))


@pytest.mark.full
def test_btf_that_pahole_makes_of_dwarf_is_no_change(tmp_path: Path) -> None:
    program = shutil.which("pahole")
    assert program is not None
    copy = tmp_path / "libcase.so"
    shutil.copy(built(""), copy)
    subprocess.run([program, "-J", copy], check=True, capture_output=True)
    subprocess.run(["objcopy", "--strip-debug", copy], check=True)
    found = read(copy)
    assert found.evidence_of("layout").source == "BTF"
    assert found.variants("layout", Name("function", "take"))
    assert_no_change(read(built("")), found)


@pytest.mark.parametrize("form", FORMS)
def test_members_bit_fields_enumerators_and_parameters_are_read(form: str) -> None:
    found = read(built(form))
    (bits,) = found.variants("layout", Name("record", "bits"))
    assert isinstance(bits, Record)
    assert bits.size == 8
    assert [(each.name, each.offset, each.bit_size) for each in bits.fields] == [
        ("a", 0, 3), ("b", 3, 5), ("c", 8, 4), ("d", 12, 40),
    ]  # fmt: skip
    (color,) = found.variants("layout", Name("enum", "color"))
    assert isinstance(color, Enum)
    assert [(each.name, each.value) for each in color.enumerators] == [("RED", -1), ("GREEN", 3)]
    (take,) = found.variants("layout", Name("function", "take"))
    assert isinstance(take, Function)
    assert (len(take.parameters), take.variadic) == (4, True)
    alias, target = (found.variants("layout", Name("function", each)) for each in ("alias", "target"))
    assert alias
    assert alias == target


@pytest.mark.parametrize("form", FORMS)
def test_a_member_added_in_the_middle_breaks(form: str) -> None:
    """Of libraries that have no DWARF, this passed as equal, with the remark that nothing describes their types."""
    old = read(built(form))
    new = read(built(form, SOURCE.replace("int x, y; } point_t", "int x, z, y; } point_t")))
    found = compare(old, new)
    assert found.verdict is Verdict.BREAKING
    assert any(finding.kind.startswith("type_field_added") for finding in found.findings)


@pytest.mark.parametrize("form", FORMS)
def test_the_evidence_names_its_source_and_what_that_does_not_record(form: str) -> None:
    evidence = read(built(form)).evidence_of("layout")
    assert (evidence.state, evidence.source) == ("full", form.upper())
    assert "no debug information" not in evidence.detail
    assert {"Function.noreturn", "Record.alignment", "Array[bounds]"} <= set(evidence.unrecorded or ())


@pytest.mark.parametrize("form", FORMS)
def test_dwarf_is_read_where_there_is_both(form: str) -> None:
    evidence = read(built(form, SOURCE, "-g")).evidence_of("layout")
    assert evidence.source == "file"


def test_ctf_of_linkers_that_only_join_sections_is_read() -> None:
    library = built("ctf", SOURCE, "-fuse-ld=gold")
    assert_no_change(read(built("")), read(library))


def test_compressed_ctf_is_read(tmp_path: Path) -> None:
    """``libctf`` compresses what is behind the header, which says so in a flag."""
    library = build_library(SOURCE, flags=("-gctf", "-nostdlib"))  # one dictionary, as nothing contradicts it
    copy = tmp_path / "libcase.so"
    data = bytearray(library.read_bytes())
    section = next(each for each in ElfFile(library).sections if each.name == ".ctf")
    assert struct.unpack_from("<H", data, section.offset) == (0xDFF2,)
    body = zlib.compress(bytes(data[section.offset + 52 : section.offset + section.size]))
    data[section.offset + 3] |= 1
    data[section.offset + 52 : section.offset + section.size] = body.ljust(section.size - 52, b"\0")
    copy.write_bytes(data)
    assert read(copy).entries["layout"] == read(library).entries["layout"]


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_section_is_named_and_no_library_is_refused_for_it(form: str, tmp_path: Path) -> None:
    copy = tmp_path / "libcase.so"
    data = bytearray(built(form).read_bytes())
    section = next(each for each in ElfFile(built(form)).sections if each.name in (".BTF", ".ctf"))
    data[section.offset : section.offset + 8] = b"\xff" * 8
    copy.write_bytes(data)
    evidence = read(copy).evidence_of("layout")
    assert (evidence.state, evidence.reason) == ("missing", "corrupt-debug-info")
    assert evidence.detail.startswith(form.upper())


@pytest.mark.full
@pytest.mark.parametrize("form", FORMS)
def test_flipped_bits_give_a_snapshot_or_an_error(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tighten(monkeypatch)
    library = built(form)
    section = next(each for each in ElfFile(library).sections if each.name in (".BTF", ".ctf"))
    place = range(section.offset, section.offset + section.size)
    head = range(section.offset, section.offset + 64)
    assert outcomes(library, [place, head], tmp_path)["other facts"] > 0


@pytest.mark.full
@pytest.mark.parametrize("form", FORMS)
def test_a_section_that_is_cut_off_anywhere_gives_a_snapshot(form: str, tmp_path: Path) -> None:
    """The end of the section is zeroed, as in a download that was cut off."""
    library = built(form)
    section = next(each for each in ElfFile(library).sections if each.name in (".BTF", ".ctf"))
    original, copy = library.read_bytes(), tmp_path / "libcase.so"
    for kept in range(0, section.size, max(section.size // 40, 1)):
        data = bytearray(original)
        data[section.offset + kept : section.offset + section.size] = bytes(section.size - kept)
        copy.write_bytes(data)
        told(compare(read(library), read(copy)))
