"""What programs can do with classes is what the compiler answers that reads their headers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from abistore.extract.headers.subprocess import read_headers
from abistore.extract.reader import HeaderOptions
from abistore.model.declarations import Abilities, Ability, Declared, Name
from abistore.model.shapes import Record
from abistore.model.snapshot import Target
from tests.build import build_library
from tests.extract.test_tails import CLASSES

X86 = Target("elf", "x86_64", 64, "little", "sysv")

HEADER = """
#include <memory>
struct Plain { int id; char tag; };
struct Constructed { int id; Constructed(int); };
struct Referring { int &id; };
struct Moved { Moved(); Moved(Moved &&); };
struct Owner { std::unique_ptr<int> held; };
struct Braced { explicit Braced(); };
class Counted { protected: ~Counted(); public: Counted(); };
struct Shape { Shape(int); virtual void draw() = 0; };
struct Last final { int id; };
struct Tag {}; struct Tagged : Tag { int id; };
class Outer { struct Inner { int id; Inner(int); }; public: Inner *inner(); };
template <class T> struct Box { T value; };
struct Handle;
namespace { struct Local { int id; }; }
typedef struct { int id; } unnamed;
int use(const Plain *, Box<Plain> *, Handle *, Local *);
"""


def abilities(folder: Path, header: str = HEADER, standard: str | None = None) -> dict[str, Abilities | None]:
    (folder / "api.h").write_text(header)
    found = read_headers(HeaderOptions((folder / "api.h",), language="c++", standard=standard), X86)
    told = ((name, shape) for name, shapes in found.entries.items() for shape in shapes if name.kind == "record")
    return {name.spelling: shape.abilities for name, shape in told if isinstance(shape, Declared)}


def lacks(found: Abilities | None, *wanted: Ability) -> set[Ability]:
    assert found is not None
    return {each for each in wanted if each in found.lacking}


def can(found: Abilities | None, wanted: Iterable[Ability]) -> bool:
    return found is not None and not set(wanted) & set(found.lacking)


def test_the_compiler_tells_what_programs_can_do(tmp_path: Path) -> None:
    read = abilities(tmp_path)
    assert can(read["Plain"], ("aggregate", "list_members", "default", "copy", "move", "assign", "destroy", "derive"))
    assert lacks(read["Constructed"], "default", "derived_default", "aggregate", "copy") == {
        *("default", "derived_default", "aggregate")
    }
    assert lacks(read["Referring"], "default", "assign", "move_assign", "copy") == {"default", "assign", "move_assign"}
    assert lacks(read["Moved"], "copy", "move", "assign", "default") == {"copy", "assign"}
    assert lacks(read["Owner"], "copy", "assign", "move", "move_assign") == {"copy", "assign"}
    assert lacks(read["Braced"], "default", "default_implicitly") == {"default_implicitly"}
    assert lacks(read["Counted"], "default", "destroy", "derived_default", "derived_destroy") == {"default", "destroy"}
    assert lacks(read["Tagged"], "aggregate", "list_members") == {"list_members"}


def test_of_an_abstract_class_the_compiler_tells_what_derived_classes_can_do(tmp_path: Path) -> None:
    read = abilities(tmp_path)
    assert lacks(read["Shape"], "instantiate", "derived_default", "derived_copy") == {"instantiate", "derived_default"}
    assert lacks(read["Last"], "derive", "instantiate", "copy") == {"derive"}


def test_a_private_class_is_asked_and_what_does_not_complete_is_not(tmp_path: Path) -> None:
    read = abilities(tmp_path)
    assert lacks(read["Outer::Inner"], "default", "copy") == {"default"}
    assert can(read["unnamed"], ("default", "aggregate"))
    assert [read[each] for each in ("Handle", "Box", "(anonymous namespace)::Local")] == [None, None, None]


def test_the_answers_depend_on_the_standard(tmp_path: Path) -> None:
    header = "struct Set { int id = 1; }; struct Made { Made() = default; int id; }; int use(Set *, Made *);"
    by = {each: abilities(tmp_path, header, standard=f"c++{each}") for each in ("11", "14", "20")}
    assert [can(by[each]["Set"], ("aggregate",)) for each in ("11", "14", "20")] == [False, True, True]
    assert [can(by[each]["Made"], ("aggregate",)) for each in ("11", "14", "20")] == [True, True, False]


def test_headers_with_errors_are_asked_all_the_same(tmp_path: Path) -> None:
    read = abilities(tmp_path, "struct Fine { int id; Fine(int); };\ninline int use(Fine *) { return missing(); }\n")
    assert lacks(read["Fine"], "default", "copy") == {"default"}


def test_the_tail_in_headers_is_as_gcc_lays_out_derived_classes(tmp_path: Path) -> None:
    text = "\n".join(
        f"namespace n{place} {{ {each} struct D : B {{ D(int); char x; }}; }}" for place, each in enumerate(CLASSES)
    )
    offsets = _offsets(text)
    (tmp_path / "api.h").write_text(f"{text}\nint use();\n")
    found = read_headers(HeaderOptions((tmp_path / "api.h",), language="c++"), X86).entries
    sizes = [_data_size(found[Name("record", f"n{place}::B")]) for place, _ in enumerate(CLASSES)]
    assert sizes == offsets


def _data_size(shapes: Iterable[object]) -> int:
    (declared,) = (each for each in shapes if isinstance(each, Declared))
    assert declared.abilities is not None
    return declared.abilities.data_size


def _offsets(text: str) -> list[int]:
    """Where the member of each derived class lies, in bytes, as GCC writes it into a library."""
    from abistore.extract.capture import read_snapshot
    from abistore.extract.reader import ExtractOptions

    uses = "\n".join(f"int f{place}(n{place}::D *) {{ return 0; }}" for place, _ in enumerate(CLASSES))
    flags = ("-g", "-w", "-fno-eliminate-unused-debug-types")
    snapshot = read_snapshot(build_library(f"{text}\n{uses}", language="c++", flags=flags), ExtractOptions())
    found = []
    for place, _ in enumerate(CLASSES):
        (derived,) = snapshot.variants("layout", Name("record", f"n{place}::D"))
        assert isinstance(derived, Record)
        found.append(derived.fields[0].offset // 8)
    return found


def test_an_instance_stands_for_those_of_programs(tmp_path: Path) -> None:
    (tmp_path / "api.h").write_text("""
template <class T, int N, class U = T> struct Range { T all[N]; explicit Range(U); };
template <class... T> struct Any { Any(Any &&); };
template <class T> struct Large { static_assert(sizeof(T) > 8, "too small"); };
template <int N> struct Deep { Deep<N + 1> next; };
template <class T> struct Later;
struct Plain { int id; };
""")
    entries = read_headers(HeaderOptions((tmp_path / "api.h",), language="c++"), X86).entries
    declared = {name.spelling: each for name in entries for each in entries[name] if isinstance(each, Declared)}
    asked = {name: [each.spelling for each in shape.instances] for name, shape in declared.items() if shape.instances}
    assert asked == {"Range": ["Range<int, 1>"], "Any": ["Any<int>"]}
    assert lacks(declared["Range"].instances[0].abilities, "default", "copy", "aggregate") == {"default", "aggregate"}
    assert can(declared["Plain"].abilities, ("default", "copy", "aggregate"))
