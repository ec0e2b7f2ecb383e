"""What PDB files say, against DWARF of the same source and against LLVM's own reader."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.files import InputFile
from abistore.extract.pe import pdb_container as leaf
from abistore.extract.pe.pdb_container import PdbContainer, TypeRecords
from abistore.extract.pe.pdb_layout import parts
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import Name
from abistore.model.shapes import Enum, Enumerator, Foreign, Function, Inline, Opaque, Primitive, Record, Variable
from abistore.model.snapshot import Snapshot
from tests.extract.pe_fixtures import mingw, msvc

pytestmark = pytest.mark.full

FULL = ("-g", "-gcodeview", "-O1", "-fstandalone-debug", "-fms-extensions")

SOURCE = """
namespace geo {
enum Color : unsigned char { RED, GREEN = 7 };
struct Opaque;
struct Empty {};
class Shape {
public:
  virtual double area() const = 0;
  virtual void move(int by);
  virtual void move(long by, int more);
  virtual ~Shape();
  static int count;
protected:
  int id;
private:
  unsigned first : 3, second : 5;
  wchar_t *label;
};
struct Circle : Shape {
  double area() const override;
  void grow(double by);
  static Circle unit(int);
  union { int i; float f; } either;
  int cells[3][4];
  int (*call)(const Opaque &, ...);
  int Circle::*member;
  Color color;
  volatile long long *flag;
};
int Shape::count = 3;
void Shape::move(int by) { id += by; }
void Shape::move(long by, int more) { id += by + more; }
Shape::~Shape() {}
double Circle::area() const { return color; }
void Circle::grow(double by) { either.f += by; }
int use(const Circle &circle, Color color, Opaque *opaque, Empty) { return circle.cells[0][0] + color; }
__declspec(dllexport) int spread(const char *format, ...) { return format[0]; }
}
void *operator new(unsigned long long);
void operator delete(void *, unsigned long long) {}
extern "C" { int _purecall() { return 0; } int _fltused; void __cdecl free_all() {} extern const unsigned level = 5; }
"""
EXPORTS = (
    "?use@geo@@YAHAEBUCircle@1@W4Color@1@PEAUOpaque@1@UEmpty@1@@Z",
    "?area@Circle@geo@@UEBANXZ",
    "?grow@Circle@geo@@QEAAXN@Z",
    "?count@Shape@geo@@2HA",
    "free_all",
    "level",
)
LINK = ("/debug", *(f"/export:{name}" for name in EXPORTS))


def built(source: str = SOURCE, *, machine: str = "x86_64") -> Path:
    return msvc(source, *FULL, machine=machine, link=LINK)


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return read_snapshot(built(), ExtractOptions())


def record(snapshot: Snapshot, name: str) -> Record:
    (shape,) = snapshot.variants("layout", Name("record", name))
    assert isinstance(shape, Record)
    return shape


def function(snapshot: Snapshot, symbol: str) -> Function:
    (shape,) = snapshot.variants("layout", Name("function", symbol))
    assert isinstance(shape, Function)
    return shape


def test_all_exports_are_described(snapshot: Snapshot) -> None:
    evidence = snapshot.evidence_of("layout")
    assert (evidence.state, evidence.source, evidence.described) == ("full", "beside", len(EXPORTS) + 1)
    assert snapshot.provenance.debug_files == ("case.pdb",)
    assert snapshot.provenance.languages == ("C++",)
    assert snapshot.provenance.build_id is not None


def test_fields_have_types_offsets_bits_and_access(snapshot: Snapshot) -> None:
    fields = {each.name: each for each in record(snapshot, "geo::Shape").fields}
    assert (fields["id"].offset, fields["id"].access, fields["id"].type) == (64, "protected", Primitive("int", 4))
    assert [(fields[each].offset, fields[each].bit_size) for each in ("first", "second")] == [(96, 3), (99, 5)]
    assert fields["label"].access == "private"


def test_new_virtual_functions_have_slots_and_overriding_ones_have_none(snapshot: Snapshot) -> None:
    shape, circle = record(snapshot, "geo::Shape"), record(snapshot, "geo::Circle")
    assert shape.has_vptr and not circle.has_vptr
    slots = [(each.display, each.slot, each.pure) for each in shape.virtuals]
    assert slots == [("area", 0, True), ("move", 1, False), ("move", 2, False), ("~Shape", 3, False)]
    assert next((each.display, each.slot) for each in circle.virtuals) == ("area", None)
    (base,) = circle.bases
    assert (base.offset, base.virtual) == (0, False)


def test_a_member_function_tells_its_class_and_how_it_is_called(snapshot: Snapshot) -> None:
    area = function(snapshot, "?area@Circle@geo@@UEBANXZ").method
    grow = function(snapshot, "?grow@Circle@geo@@QEAAXN@Z")
    assert area is not None and grow.method is not None
    assert (area.owner.spelling, area.virtual, area.qualifiers) == ("geo::Circle", "virtual", ("const",))
    assert (grow.method.qualifiers, grow.parameters) == ((), (Primitive("double", 8),))


def test_a_declared_type_is_opaque_and_an_enumeration_has_its_values(snapshot: Snapshot) -> None:
    assert snapshot.variants("layout", Name("record", "geo::Opaque")) == (Opaque("struct"),)
    (color,) = snapshot.variants("layout", Name("enum", "geo::Color"))
    assert color == Enum(1, (Enumerator("RED", 0), Enumerator("GREEN", 7)), Primitive("unsigned char", 1))


def test_variables_and_variadic_functions_are_told(snapshot: Snapshot) -> None:
    (count,) = snapshot.variants("layout", Name("variable", "?count@Shape@geo@@2HA"))
    assert count == Variable("geo::Shape::count", Primitive("int", 4), Name("record", "geo::Shape"))
    assert function(snapshot, "?spread@geo@@YAHPEBDZZ").variadic


def test_types_equal_those_of_dwarf_from_the_same_source(snapshot: Snapshot) -> None:
    flags = ("-g", "-gdwarf", "-O1", "-fstandalone-debug", "-fms-extensions")
    dwarf = read_snapshot(msvc(SOURCE, *flags, link=LINK), ExtractOptions())
    for name, shapes in dwarf.entries["layout"].items():
        (other,) = snapshot.variants("layout", name)
        (shape,) = shapes
        if isinstance(shape, Record):
            assert isinstance(other, Record)
            assert (shape.size, shape.bases, shape.has_vptr) == (other.size, other.bases, other.has_vptr), name
            assert [(each.name, each.offset) for each in shape.fields if each.name] == [
                (each.name, each.offset) for each in other.fields if each.name in {own.name for own in shape.fields}
            ]
        elif isinstance(shape, Function):
            assert isinstance(other, Function)
            assert (shape.display, shape.result, shape.parameters) == (other.display, other.result, other.parameters)


@pytest.mark.skipif(shutil.which("llvm-pdbutil") is None, reason="llvm-pdbutil is not installed")
def test_sizes_equal_those_of_llvm(snapshot: Snapshot) -> None:
    path = built().with_suffix(".pdb")
    text = subprocess.run(["llvm-pdbutil", "dump", "-types", path], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"\| LF_(?:STRUCTURE|CLASS) .*?`(.*?)`.*?options: (.*?), sizeof (\d+)", text, re.DOTALL)
    sizes = {name: int(size) for name, options, size in found if "forward ref" not in options}
    for name in ("geo::Shape", "geo::Circle", "geo::Empty"):
        assert record(snapshot, name).size == sizes[name]


def test_a_pointer_has_four_bytes_on_32_bits() -> None:
    source = "struct Node { Node *next; int value; }; int walk(Node *n) { return n->value; }"
    path = msvc(source, *FULL, machine="i386", link=("/debug", "/export:?walk@@YAHPAUNode@@@Z", "/safeseh:no"))
    node = record(read_snapshot(path, ExtractOptions()), "Node")
    assert (node.size, [each.offset for each in node.fields]) == (8, [0, 32])


def test_calling_conventions_of_32_bits_are_told() -> None:
    source = "int __stdcall one(int a) { return a; } int two(int a) { return a; }"
    link = ("/debug", "/export:?one@@YGHH@Z", "/export:?two@@YAHH@Z", "/safeseh:no")
    found = read_snapshot(msvc(source, *FULL, machine="i386", link=link), ExtractOptions())
    assert function(found, "?one@@YGHH@Z").calling_convention == "stdcall"
    assert function(found, "?two@@YAHH@Z").calling_convention is None


def test_a_type_without_a_name_is_spelled_out_or_called_by_its_alias() -> None:
    types = "typedef struct { int x; } point; struct line { struct { int y; } *inner; point p; };"
    source = f"{types} int f(line *l) {{ return l->p.x; }}"
    path = msvc(source, *FULL, link=("/debug", "/export:?f@@YAHPEAUline@@@Z"))
    fields = {each.name: each.type for each in record(read_snapshot(path, ExtractOptions()), "line").fields}
    assert "point" in str(fields["p"])
    assert isinstance(getattr(fields["inner"], "target", None), Inline)


def test_the_standard_library_is_recorded_by_its_size() -> None:
    source = "namespace std { struct pair { int a, b; }; } int f(std::pair p) { return p.a; }"
    path = msvc(source, *FULL, link=("/debug", "/export:?f@@YAHUpair@std@@@Z"))
    (pair,) = read_snapshot(path, ExtractOptions()).variants("layout", Name("record", "std::pair"))
    assert isinstance(pair, Foreign) and pair.size == 8


def test_a_change_between_two_builds_is_found_by_their_pdb_files() -> None:
    newer = SOURCE.replace("int cells[3][4];", "int cells[3][5];").replace("GREEN = 7", "GREEN = 8")
    found = {
        each.kind
        for each in compare(
            read_snapshot(built(), ExtractOptions()), read_snapshot(built(newer), ExtractOptions())
        ).findings
    }
    assert {"enum_member_value_changed", "type_field_type_changed"} <= found


def test_a_pdb_file_names_what_is_behind_a_number() -> None:
    source = "int first(void) { return 1; }\nint second(void) { return 2; }\nint third = 3;\n"
    definition = "EXPORTS\n first @1 NONAME\n second @2 NONAME\n third @3 NONAME DATA\n"
    path = msvc(source, link=("/debug", "/def:case.def"), files={"case.def": definition}, language="c")
    found = read_snapshot(path, ExtractOptions()).entries["layout"]
    told = {name.spelling: shape.display for name, (shape,) in found.items() if isinstance(shape, Function | Variable)}
    assert told == {"#1": "first", "#2": "second", "#3": "third"}


# --- which file ---------------------------------------------------------------------------------------------------


def moved(folder: Path, source: str = SOURCE, *, pdb: bool = True) -> Path:
    path = built(source)
    (folder / "case.dll").write_bytes(path.read_bytes())
    if pdb:
        (folder / "case.pdb").write_bytes(path.with_suffix(".pdb").read_bytes())
    return folder / "case.dll"


def test_a_pdb_file_of_another_build_is_refused(tmp_path: Path) -> None:
    path = moved(tmp_path)
    other = built(SOURCE.replace("GREEN = 7", "GREEN = 9")).with_suffix(".pdb")
    (tmp_path / "case.pdb").write_bytes(other.read_bytes())
    assert read_snapshot(path, ExtractOptions()).evidence_of("layout").reason == "stale-debug-file"


def test_a_pdb_file_is_found_in_a_folder_or_by_its_path(tmp_path: Path) -> None:
    path, folder = moved(tmp_path, pdb=False), tmp_path / "symbols"
    folder.mkdir()
    named = folder / "renamed.pdb"
    assert read_snapshot(path, ExtractOptions(layout=True)).evidence_of("layout").reason in ("debug-file-missing", "")
    named.write_bytes(built().with_suffix(".pdb").read_bytes())
    seen = read_snapshot(path, ExtractOptions(debug_dirs=(named,))).evidence_of("layout")
    assert (seen.state, seen.source) == ("full", "debug-dir")
    named.rename(folder / "case.pdb")
    assert read_snapshot(path, ExtractOptions(debug_dirs=(folder,))).evidence_of("layout").source == "debug-dir"


@pytest.mark.parametrize("size", [0, 10, 100, 5000])
def test_a_pdb_file_that_is_cut_off_is_told(tmp_path: Path, size: int) -> None:
    path = moved(tmp_path)
    (tmp_path / "case.pdb").write_bytes((tmp_path / "case.pdb").read_bytes()[:size])
    assert read_snapshot(path, ExtractOptions()).evidence_of("layout").reason in (
        "unreadable-debug-file",
        "debug-file-missing",
    )


def test_a_nested_type_with_access_does_not_end_a_field_list() -> None:
    nested = struct.pack("<HHI", leaf.NESTED_WITH_ACCESS, 1, 0x1001) + b"Node\0\xf3\xf2\xf1"
    member = struct.pack("<HHIH", leaf.MEMBER, 3, 0x74, 8) + b"count\0"
    found = list(parts(FieldLists(nested + member), 0x1000))  # type: ignore[arg-type]
    assert [(each.name, each.access) for each in found] == [("Node", "private"), ("count", "public")]


class FieldLists(dict[int, bytes]):
    """Type records with one field list."""

    def __init__(self, data: bytes) -> None:
        super().__init__({0x1000: data})

    def record(self, index: int) -> tuple[int, bytes]:
        return leaf.FIELDS, self[index]


NEWER = {leaf.CLASS: 0x1608, leaf.STRUCTURE: 0x1609, leaf.UNION: 0x160A, leaf.INTERFACE: 0x160B}
"""The records that hold the same in another order (``LF_CLASS2``, ...): of newer compilers, of which none is here."""


def newer(kind: int, data: bytes) -> tuple[int, bytes]:
    """A record as these write it: 32 bits of flags, references, then how many members and bytes there are."""
    if kind not in NEWER:
        return kind, data
    count, flags = struct.unpack_from("<HH", data)
    references = 8 if kind == leaf.UNION else 16
    return NEWER[kind], struct.pack("<I", flags) + data[4:references] + struct.pack("<H", count) + data[references:]


def stream(records: list[tuple[int, bytes]]) -> TypeRecords:
    rows = b"".join(struct.pack("<HH", 2 + len(data), kind) + data for kind, data in records)
    return TypeRecords(struct.pack("<IIIII", 20040203, 20, 0x1000, 0x1000 + len(records), len(rows)) + rows)


def test_records_of_newer_compilers_hold_the_same() -> None:
    with InputFile(built().with_suffix(".pdb")) as file:
        former = TypeRecords(PdbContainer(file).stream(2))
    numbers = range(0x1000, 0x1000 + len(former._starts))
    records = [former.record(number) for number in numbers]
    found = stream([newer(*each) for each in records])
    assert sum(kind in NEWER for kind, _ in records) > 3
    assert [found.record(number) for number in numbers] == records
    assert [found.definition(number) for number in numbers] == [former.definition(number) for number in numbers]


ALIGNED = """
struct alignas({alignment}) wide {{ int a; char rest[60]; }};
enum class mode : int {{ X, Y }};
extern "C" __declspec(dllexport) int f(wide *w, mode m) {{ return w->a + (int)m; }}
"""


def test_what_pdb_files_never_record_is_not_checked_beside_dwarf() -> None:
    """The sources are the same: only what describes them differs."""
    source = ALIGNED.format(alignment=64)
    dwarf, pdb = (read_snapshot(each, ExtractOptions()) for each in (mingw(source), msvc(source)))
    for old, new, side in ((dwarf, pdb, "new"), (pdb, dwarf, "old")):
        found = compare(old, new)
        assert not {each.kind for each in found.findings if each.name.kind in ("record", "enum", "function")}
        (left,) = [each for each in found.not_checked if each.facet == "layout"]
        assert (left.side, left.reason) == (side, "facts-not-recorded")
        assert "alignas" in left.detail and "scoped enumerations" in left.detail


def test_headers_decide_on_what_pdb_files_never_record(tmp_path: Path) -> None:
    sides = []
    for build, alignment in ((mingw, 64), (msvc, 32)):
        source = ALIGNED.format(alignment=alignment)
        header = tmp_path / str(alignment) / "case.h"
        header.parent.mkdir()
        header.write_text(source.rpartition("extern")[0] + 'extern "C" int f(wide *, mode);\n')
        sides.append(read_snapshot(build(source), ExtractOptions(headers=HeaderOptions((header,)))))
    assert "type_alignment_changed" in {each.kind for each in compare(*sides).findings}
