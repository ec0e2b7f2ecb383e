"""Public headers become a facet of the snapshot; whatever is in them, the caller gets an error and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from abistore.errors import AbistoreError, HeaderError, LimitExceeded, PathDenied, UsageError
from abistore.extract.capture import read_snapshot
from abistore.extract.headers import reader
from abistore.extract.headers import subprocess as apart
from abistore.extract.headers.subprocess import HeaderLimits, read_headers
from abistore.extract.headers.walk import Walked, declarations
from abistore.extract.reader import ExtractOptions, FacetReading, HeaderOptions, HeaderRequest
from abistore.files import canonical, confined
from abistore.model.declarations import Declared, Name
from abistore.model.shapes import Record
from abistore.model.snapshot import HeadersRead, Snapshot, Target, Variants
from abistore.model.snapshot_files import from_json, to_json
from abistore.process import Ended
from abistore.service.snapshots import capture
from tests.build import build_library

ROOT = Path(__file__).parent.parent.parent

X86 = Target("elf", "x86_64", 64, "little")
BRIEF = HeaderLimits(seconds=20, memory=3 << 30, silence=2.0)
HEADER = "#ifndef API\n#define API\nstruct point { int x, y; };\nint norm(const struct point *p);\n#endif\n"
SOURCE = '#include "api.h"\nint norm(const struct point *p) { return p->x; }\nint hidden(void) { return 1; }\n'


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def reading(*headers: Path, limits: HeaderLimits = BRIEF, **options: Any) -> FacetReading:
    return read_headers(HeaderOptions(headers, **options), X86, limits=limits)


def library(headers: Path, *, flags: tuple[str, ...] = ("-g",), **options: Any) -> Snapshot:
    path = build_library(SOURCE, flags=flags, files={"api.h": HEADER})
    return read_snapshot(path, ExtractOptions(headers=HeaderOptions((headers,), **options)))


# --- the facet -------------------------------------------------------------------------------------------------------


def headers_of(snapshot: Snapshot) -> HeadersRead:
    """What the snapshot says of its headers."""
    told = snapshot.provenance.headers
    assert isinstance(told, HeadersRead)
    return told


def test_headers_join_the_snapshot_of_a_library(tmp_path: Path) -> None:
    snapshot = library(written(tmp_path, {"api.h": HEADER}), defines=("A=1",))
    norm, point = Name("function", "norm"), Name("record", "point")
    assert [type(shape) for shape in snapshot.variants("source", norm)].count(Declared) == 1
    assert snapshot.variants("source", Name("function", "hidden")) == ()
    (seen,) = [shape for shape in snapshot.variants("source", point) if isinstance(shape, Record)]
    assert (seen.size, [field.offset for field in seen.fields]) == (8, [0, 32])
    evidence = snapshot.evidence_of("source")
    assert (evidence.state, evidence.source, evidence.described, evidence.expected) == ("full", "headers", 1, 1)
    told = headers_of(snapshot)
    assert (told.files, told.language, told.reader[:8]) == (("api.h",), "c", "libclang")
    assert told.options == ("--define A=1", "--std gnu17")
    assert snapshot.locations[point].file == "api.h"
    assert from_json(to_json(snapshot)) == snapshot


def test_a_stripped_library_gets_its_layouts_from_headers(tmp_path: Path) -> None:
    snapshot = library(written(tmp_path, {"api.h": HEADER}), flags=("-s",))
    assert snapshot.evidence_of("layout").state == "missing"
    assert any(isinstance(shape, Record) for shape in snapshot.variants("source", Name("record", "point")))


def test_where_headers_lie_is_no_part_of_the_snapshot(tmp_path: Path) -> None:
    first, second = (written(tmp_path / name / "include", {"api.h": HEADER}) for name in ("first", "second"))
    assert to_json(library(first)) == to_json(library(second))
    assert str(tmp_path) not in to_json(library(first)).decode()


def test_headers_that_are_left_out_are_evidence_that_is_partial(tmp_path: Path) -> None:
    written(tmp_path, {"api.h": HEADER, "bad.h": "#include <nowhere.h>\nint f(void);"})
    snapshot = library(tmp_path)
    evidence = snapshot.evidence_of("source")
    assert (evidence.state, evidence.reason, evidence.described, evidence.expected) == (
        "partial", "headers-set-aside", 1, 2,
    )  # fmt: skip
    assert evidence.detail == "1 header does not parse and is left out: bad.h:1: 'nowhere.h' file not found"
    assert evidence.hint == (
        "pass the folder that contains nowhere.h with --include-dir; if programs do not include it directly: "
        "--private-header bad.h"
    )
    assert headers_of(snapshot).set_aside == ("bad.h",)


def test_the_words_of_a_header_that_is_left_out_are_told_unless_it_makes_names(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain", {"api.h": HEADER, "bad.h": "#include <nowhere.h>\nint point(void);"})
    pastes = written(tmp_path / "pastes", {"api.h": HEADER, "bad.h": "#include <nowhere.h>\n#define F(x) int x##_f();"})
    assert headers_of(library(plain)).aside == ("point",)
    assert headers_of(library(pastes)).aside is None
    assert headers_of(library(written(tmp_path / "good", {"api.h": HEADER}))).aside is None


def test_what_stands_in_a_header_that_is_left_out_is_not_public(tmp_path: Path) -> None:
    written(tmp_path, {"api.h": "int f(void);\n", "bad.h": "int bad(void);\nint (((;\n"})
    assert [name.spelling for name in library(tmp_path, language="c").entries["source"]] == ["f"]


def test_errors_that_no_header_can_be_blamed_for_are_evidence_that_is_partial(tmp_path: Path) -> None:
    written(tmp_path, {"lib/api.h": f'#include "other.h"\n{HEADER}', "other/other.h": "int (((;\n"})
    evidence = library(tmp_path / "lib", include_dirs=(tmp_path / "other",)).evidence_of("source")
    assert (evidence.state, evidence.reason) == ("partial", "header-errors")
    assert "other.h:1: " in evidence.detail


def test_errors_in_bodies_of_c_functions_lose_no_declaration(tmp_path: Path) -> None:
    body = "static inline int bits(int x) { return unknown_here(x).low; }\n"
    snapshot = library(written(tmp_path, {"api.h": f"{HEADER}{body}"}), language="c")
    evidence = snapshot.evidence_of("source")
    assert (evidence.state, evidence.reason, evidence.declares_all) == ("partial", "bodies-unread", True)
    assert evidence.detail.startswith("2 errors in bodies of functions: api.h:")
    assert {"unknown_here", "low"} <= set(headers_of(snapshot).unread)
    assert from_json(to_json(snapshot)) == snapshot


def test_errors_in_bodies_of_cpp_functions_may_hide_what_is_called(tmp_path: Path) -> None:
    body = "inline int bits(int x) { return unknown_here(x).low; }\n"
    evidence = library(written(tmp_path, {"api.h": f"{HEADER}{body}"}), language="c++").evidence_of("source")
    assert (evidence.state, evidence.reason, evidence.declares_all) == ("partial", "header-errors", False)


def test_headers_that_declare_nothing_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeaderError, match=r"the header a\.h declares nothing") as error:
        reading(written(tmp_path, {"a.h": "#ifdef WANTED\nint f(void);\n#endif\n"}))
    assert error.value.code == "headers"
    assert "--define" in error.value.hint


def test_headers_behind_a_link_to_a_folder_declare_what_they_do(tmp_path: Path) -> None:
    include = written(tmp_path / "include", {"all.h": '#include "geo/a.h"\n'})
    real = written(tmp_path / "real", {"a.h": "int first(int a);\n"})
    (include / "geo").symlink_to(real)
    read = reading(include)
    assert read.locations[Name("function", "first")].file == "geo/a.h"
    assert read.evidence.described == 2


def test_a_json_snapshot_takes_no_headers(tmp_path: Path) -> None:
    snapshot = tmp_path / "a.json"
    snapshot.write_bytes(to_json(library(written(tmp_path / "h", {"api.h": HEADER}))))
    with pytest.raises(UsageError, match="headers cannot be added"):
        read_snapshot(snapshot, ExtractOptions(headers=HeaderOptions((tmp_path / "h",))))


def test_headers_are_read_for_the_machine_of_the_binary(tmp_path: Path) -> None:
    header = written(tmp_path, {"a.h": "struct s { long a; void *b; };\nint f(struct s *);"})
    machines: tuple[tuple[str, Literal[32, 64], int], ...] = (("x86_64", 64, 16), ("i386", 32, 8), ("armhf", 32, 8))
    for machine, bits, size in machines:
        entries = read_headers(HeaderOptions((header,)), Target("elf", machine, bits, "little")).entries
        sizes = [shape.size for shape in entries[Name("record", "s")] if isinstance(shape, Record)]
        assert sizes == [size], machine


UMBRELLA = {
    "api.h": '#ifndef API\n#define API\n#include <stddef.h>\n#include "api/all.h"\n#endif\n',
    "api/all.h": '#pragma once\n#include "point.h"\n#include <api/norm.h>\n#include "../../other/other.h"\n',
    "api/point.h": "struct point { int x, y; };\n",
    "api/norm.h": '#include "kept.h"\nint norm(const struct point *p);\n',
    "api/kept.h": "int kept(void);\n",
}


def test_a_header_that_declares_nothing_stands_for_what_it_includes_from_its_folder(tmp_path: Path) -> None:
    written(tmp_path, {"other/other.h": "int other(void);\n"})
    folder = written(tmp_path / "include", UMBRELLA)
    found = reading(folder / "api.h", include_dirs=(folder,))
    assert declared(found) == {"point", "norm", "kept"}
    assert found.headers is not None
    assert (found.headers.given, found.evidence.expected) == (("api.h",), 5)
    assert found.headers.files == ("api.h", "api/all.h", "api/kept.h", "api/norm.h", "api/point.h")


def test_a_header_that_declares_something_stands_for_itself_only(tmp_path: Path) -> None:
    folder = written(tmp_path, UMBRELLA | {"api.h": UMBRELLA["api.h"] + "int own(void);\n", "other/other.h": ""})
    written(tmp_path.parent, {"other/other.h": "int other(void);\n"})
    assert declared(reading(folder / "api.h", include_dirs=(folder,))) == {"own"}


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    "own",
    ["typedef struct tag_never_used dummy_t;", "enum mode { OPEN };", "#define API_VERSION 3", "struct s { int a; };"],
)
def test_a_header_with_types_and_constants_stands_for_what_it_includes(tmp_path: Path, own: str, beside: bool) -> None:
    files = {"all.h": f'#include "one.h"\n#include "two.h"\n{own}\n', "one.h": "int one(void);\n"}
    folder = written(tmp_path, files | {"two.h": "int two(void);\n", "extra.h": "int extra(void);\n"})
    given = [folder / name for name in ("all.h", "extra.h")[: 1 + beside]]
    assert declared(reading(*given)) >= {"one", "two"}


def test_a_header_of_types_beside_others_does_not_stand_for_its_configuration(tmp_path: Path) -> None:
    helper = "static inline int half(int x) { return x / 2; }\n"
    files = {"types.h": '#include "config.h"\n#include "half.h"\nstruct s { int a; };\n', "half.h": helper}
    folder = written(tmp_path, files | {"config.h": "#define WIDE 1\n", "api.h": "struct s;\nint api(struct s *);\n"})
    assert declared(reading(folder / "types.h", folder / "api.h")) == {"s", "api"}


@pytest.mark.parametrize("beside", [True, False])
def test_a_header_whose_declarations_are_switched_off_stands_for_itself(tmp_path: Path, beside: bool) -> None:
    """Unless nothing else would be public: then what it includes is."""
    text = '#include "core.h"\n#ifdef EXPERIMENTAL\n/* not yet; */\nint repack(int flags);\n#endif\n'
    files = {"core.h": "int core(void);\n", "repack.h": text, "extra.h": '#include "core.h"\nint extra(void);\n'}
    folder = written(tmp_path, files)
    given = [folder / name for name in ("repack.h", "extra.h")[: 1 + beside]]
    assert declared(reading(*given)) == ({"extra"} if beside else {"core"})


def test_headers_are_walked_once_where_a_given_one_only_includes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "include", UMBRELLA | {"other/other.h": ""})
    assert _walks(folder, monkeypatch) == 1


def test_headers_are_walked_again_where_only_the_first_walk_tells_that_one_declares_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped = f'extern "C" {{\n{UMBRELLA["api.h"]}}}\n'
    folder = written(tmp_path / "include", UMBRELLA | {"other/other.h": "", "api.h": wrapped})
    assert _walks(folder, monkeypatch, language="c++") == 2


def _walks(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> int:
    """How often the declarations behind ``api.h`` are visited until they are all found."""
    walks: list[object] = []

    def counted(unit: object, *arguments: Any, **more: Any) -> Walked:
        walks.append(unit)
        return declarations(unit, *arguments, **more)

    monkeypatch.setattr(reader, "declarations", counted)
    given = HeaderOptions((folder / "api.h",), include_dirs=(folder,), **options)
    request = HeaderRequest(given, X86, False, False, None, BRIEF.seconds, BRIEF.memory, BRIEF.silence)
    found = {name.spelling for name, shapes in reader.work(request).entries if has_declared(shapes)}
    assert found >= {"point", "kept"}
    return len(walks)


BESIDE = {
    "api.h": '#include "api/types.h"\n#include <other.h>\nstruct point *make(struct other *, enum mode, number_t);\n',
    "api/types.h": "struct point { int x; struct part *part; };\nstruct part { int y; };\nstruct apart { int z; };\n"
    "enum mode { READ };\ntypedef long number_t;\nint other(void);\n",
}


def test_what_the_declarations_of_a_header_mention_is_public_where_its_own_folder_defines_it(tmp_path: Path) -> None:
    folder = written(tmp_path / "include", BESIDE)
    outside = written(tmp_path / "outside", {"other.h": "struct other { int z; };\n"})
    found = reading(folder / "api.h", include_dirs=(outside,))
    assert declared(found) == {"make", "point", "part", "mode", "number_t"}
    assert found.locations[Name("record", "point")].file == "api/types.h"


def test_it_is_not_public_where_a_pattern_says_so_or_a_folder_was_given(tmp_path: Path) -> None:
    folder = written(tmp_path / "include", BESIDE)
    dirs = (written(tmp_path / "outside", {"other.h": "struct other { int z; };\n"}),)
    assert declared(reading(folder / "api.h", include_dirs=dirs, private=("api/*",))) == {"make"}
    written(tmp_path / "given", {"api.h": BESIDE["api.h"].replace('"api/', '"../include/api/')})
    assert declared(reading(tmp_path / "given", include_dirs=dirs)) == {"make"}


def test_methods_of_a_class_from_the_same_folder_are_public(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        {
            "api.hpp": '#include "types.hpp"\nnamespace a { Shape *make(Vec<int> &); }\n',
            "types.hpp": "namespace a { class Shape { int size_; public: int size() const; }; "
            "template <class T> struct Vec { T *data; T at(int) const; }; }\n",
        },
    )
    found = declared(reading(folder / "api.hpp", language="c++"))
    assert found >= {"_ZN1a4makeERNS_3VecIiEE", "a::Shape", "_ZNK1a5Shape4sizeEv", "a::Vec"}


def test_a_header_stands_for_none_that_is_private(tmp_path: Path) -> None:
    folder = written(
        tmp_path, {"api.h": '#include "api/a.h"\n#include "api/detail/b.h"\n', "api/a.h": "int a(void);\n"}
    )
    written(folder, {"api/detail/b.h": "int b(void);\n"})
    assert declared(reading(folder / "api.h", private=("*/detail",))) == {"a"}


def declared(found: FacetReading) -> set[str]:
    return {name.spelling for name, shapes in found.entries.items() if has_declared(shapes)}


def has_declared(shapes: Variants) -> bool:
    return any(isinstance(each, Declared) for each in shapes)


# --- another process -------------------------------------------------------------------------------------------------


@pytest.fixture(params=["fork", "spawn"])
def process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(apart, "may_fork", lambda: request.param == "fork")
    return str(request.param)


def test_both_kinds_of_process_read_the_same(process: str, tmp_path: Path) -> None:
    found = reading(written(tmp_path, {"api.h": HEADER}))
    assert Name("record", "point") in found.entries
    assert process in {"fork", "spawn"}


def test_an_error_comes_back_as_it_was_raised(process: str, tmp_path: Path) -> None:
    with pytest.raises(HeaderError, match="no such header") as error:
        reading(tmp_path / "missing")
    assert error.value.hint == "check the path given with --header"
    with confined([canonical(tmp_path)]), pytest.raises(PathDenied):
        reading(Path("/usr/include/stdio.h"))
    assert process


def test_any_thread_may_read_headers(tmp_path: Path) -> None:
    written(tmp_path, {"api.h": HEADER})
    path = build_library(SOURCE, files={"api.h": HEADER})
    found: list[Snapshot] = []
    options = ExtractOptions(headers=HeaderOptions((tmp_path,)))
    thread = threading.Thread(target=lambda: found.append(capture(path, options=options)))
    thread.start()
    thread.join()
    assert found == [capture(path, options=options)]


def fifo(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "a.h").write_text('#include "pipe"\nint f(void);\n')


def bomb(folder: Path) -> None:
    doubling = "template<int N, int M> struct S { enum { v = S<N - 1, M>::v + S<N - 1, M + (1 << N)>::v }; };\n"
    end = "template<int M> struct S<0, M> { enum { v = 1 }; };\nint f(char (&)[S<40, 0>::v]);\n"
    (folder / "a.hpp").write_text(doubling + end)


def recursion(folder: Path) -> None:
    text = "template<int N> struct S { enum { v = S<N + 1>::v }; };\nint f(char (&)[S<0>::v]);\nint g();\n"
    (folder / "a.hpp").write_text(text)


def device(folder: Path) -> None:
    (folder / "a.h").write_text('#include "/dev/zero"\nint f(void);\n')


def parentheses(folder: Path) -> None:
    (folder / "a.h").write_text(f"int f(void);\nint x = {'(' * 200_000}1{')' * 200_000};\n")


def pointers(folder: Path) -> None:
    (folder / "a.h").write_text(f"int f(int {'*' * 100_000}x);\nint g(void);\n")


def nesting(folder: Path) -> None:
    (folder / "a.hpp").write_text(f"{'namespace a { ' * 20_000} int f(); {'}' * 20_000}\n")


def doubling(folder: Path) -> None:
    (folder / "a.h").write_text('int f(void);\n#include "a.h"\n#include "a.h"\n')


def pasted(folder: Path) -> None:
    lines = ["#define A0 x,x,x,x,x,x,x,x"]
    lines += [f"#define A{number} {','.join([f'A{number - 1}'] * 8)}" for number in range(1, 12)]
    (folder / "a.h").write_text("\n".join([*lines, "enum e { A11 };", "int f(void);\n"]))


def binary(folder: Path) -> None:
    (folder / "a.h").write_bytes(bytes(range(256)) * 4096)


HOSTILE: tuple[Callable[[Path], None], ...] = (
    fifo, bomb, recursion, device, parentheses, pointers, nesting, doubling, pasted, binary,
)  # fmt: skip


@pytest.mark.parametrize("made", HOSTILE, ids=lambda made: made.__name__)
def test_hostile_headers_end_in_an_error_or_a_facet_within_limits(made: Callable[[Path], None], tmp_path: Path) -> None:
    made(tmp_path)
    limits = HeaderLimits(seconds=4, memory=1 << 30, silence=2.0)
    try:
        found = reading(tmp_path, limits=limits)
    except (HeaderError, LimitExceeded) as error:
        assert error.code in {"headers", "limit"}
        assert error.hint
    else:
        assert found.evidence.state in {"full", "partial"}
        assert found.entries


def test_a_pipe_behind_an_include_is_named(tmp_path: Path) -> None:
    fifo(tmp_path)
    with pytest.raises(LimitExceeded, match="waited more than 1 seconds for a file") as error:
        reading(tmp_path, limits=HeaderLimits(silence=1.0))
    assert "FIFO" in error.value.hint


def test_templates_without_end_take_no_more_than_their_time(tmp_path: Path) -> None:
    bomb(tmp_path)
    with pytest.raises(LimitExceeded, match="more than 2 seconds of processor time") as error:
        reading(tmp_path, limits=HeaderLimits(seconds=2))
    assert "--private-header" in error.value.hint


def test_a_crash_of_the_parser_is_an_error_and_not_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {"a.h": "#pragma clang __debug llvm_fatal_error\nint f(void);\n"})
    with pytest.raises(AbistoreError) as error:
        reading(tmp_path)
    assert error.value.code == "headers"

    def crash(_: HeaderRequest) -> bytes:
        signal.signal(signal.SIGTRAP, signal.SIG_DFL)  # libclang's handler returns, and ends the process a moment later
        os.kill(os.getpid(), signal.SIGTRAP)
        return b""

    monkeypatch.setattr(apart, "_answer", crash)
    monkeypatch.setattr(apart, "may_fork", lambda: True)
    with pytest.raises(HeaderError, match=r"crashed .*SIGTRAP"):
        reading(tmp_path)


def test_a_macro_that_repeats_a_long_argument_is_left_as_it_is_written(tmp_path: Path) -> None:
    """Each of 12,000 places of its body would become 12,000 tokens."""
    text = f"#define MANY(x) {'a##x ' * 12_000}\n#define LIB_MANY MANY({'1 ' * 12_000})\nint f(void);\n"
    written(tmp_path, {"a.h": text})
    entries = reading(tmp_path, limits=HeaderLimits(seconds=20, memory=1 << 30)).entries
    assert Name("function", "f") in entries


def test_a_hundred_thousand_macros_are_read(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "".join(f"#define LIB_M{n} {n}\n" for n in range(100_000)) + "int f(void);\n"})
    assert Name("function", "f") in reading(tmp_path, limits=HeaderLimits(seconds=60)).entries


def test_a_header_of_another_language_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "import os\n\ndef f(x):\n    return x\n"})
    with pytest.raises(HeaderError, match=r"a\.h:1: "):
        reading(tmp_path)


def test_a_system_file_behind_an_include_shows_nothing_of_its_text(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": '#include "/etc/passwd"\nint f(void);\n'})
    first = Path("/etc/passwd").read_text().split(":")[0]
    with pytest.raises(HeaderError) as error:
        reading(tmp_path)
    assert error.value.message == "the header a.h declares nothing; passwd is included by a.h and cannot be parsed"
    with confined([canonical(tmp_path)]), pytest.raises(PathDenied) as denied:
        reading(tmp_path)
    assert first not in denied.value.message


def children() -> list[str]:
    """The processes that this one has started."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    fifo(tmp_path)
    before = children(), threading.active_count()
    with pytest.raises(LimitExceeded):
        reading(tmp_path, limits=HeaderLimits(silence=1.0))
    assert (children(), threading.active_count()) == before


def test_the_copy_of_a_large_process_has_its_memory_to_itself(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("int f(void);\n")
    code = "\n".join(
        (
            "import mmap, sys; from pathlib import Path",
            "from abistore.extract.headers.subprocess import HeaderLimits",
            "from tests.extract.test_header_reading import reading",
            "large = mmap.mmap(-1, 3 << 30)",
            "found = reading(Path(sys.argv[1]), limits=HeaderLimits(seconds=4, memory=1 << 30, silence=2.0))",
            "print(found.evidence.state)",
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert (done.returncode, done.stdout.strip()) == (0, "full"), done.stderr


@pytest.mark.parametrize("said", [b"LLVM ERROR: out of memory\n", b"terminate called: std::bad_alloc\n"])
def test_a_process_without_memory_left_is_told_as_such(said: bytes) -> None:
    request = HeaderRequest(HeaderOptions(()), X86, False, False, None, 1, 1 << 20, 1.0)
    assert "of memory" in str(apart._why(Ended(-signal.SIGABRT, said), request))
    assert "crashed" in str(apart._why(Ended(-signal.SIGABRT), request))


def test_an_export_stands_where_its_header_declares_it_and_a_private_one_where_the_source_does(tmp_path: Path) -> None:
    header, source = (
        tmp_path / "api.h",
        "int offered(int);\nint hidden(int x) { return x; }\nint offered(int x) { return x; }\n",
    )
    header.write_text("\n\nint offered(int x);\n")
    library = build_library(source)
    found = read_snapshot(library, ExtractOptions(headers=HeaderOptions((header,)))).locations
    offered, hidden = (found[Name("function", name)] for name in ("offered", "hidden"))
    assert (Path(offered.file).name, offered.line) == ("api.h", 3)
    assert (Path(hidden.file).suffix, hidden.line) == (".c", 2)
