"""Headers of the C++ library that were parsed before: no fact may differ from what is read without them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from abistore.errors import AbistoreError
from abistore.extract.headers import precompiled, reader
from abistore.extract.headers.parsing import HeaderParser
from abistore.extract.headers.precompiled import KeptFiles, included, kept_files, standard_includes
from abistore.extract.reader import HeaderOptions, HeaderReading, HeaderRequest
from abistore.model.declarations import Name
from abistore.model.shapes import Record
from abistore.model.snapshot import Target
from benchmarks.accuracy.installed import included as folders_of
from benchmarks.accuracy.installed import installed, macros
from examples.more_recipes import ALL
from examples.obtain import Missing

pytestmark = pytest.mark.full

X86 = Target("elf", "x86_64", 64, "little")
PLAIN = {
    "api.hpp": '#pragma once\n#include <map>\n#include "part.hpp"\n#include <string>\n'
    "struct api { std::map<int, std::string> names; std::pair<long, part> one; int f() { return names.size(); } };\n"
    "template <class T, unsigned long N> void fill(std::array<T, N> &);\nconstexpr int most = part::most + 1;\n",
    "part.hpp": "#pragma once\n#include <array>\n#include <climits>\n"
    "struct part { std::array<int, 3> at; static constexpr int most = INT_MAX - 2; };\n",
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that keeps what was parsed from the first time on."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(precompiled.VARIABLE, str(folder))
    monkeypatch.setattr(precompiled, "USES", 0)
    return folder


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each text of all headers whether it goes on from what was parsed before."""
    found: list[bool] = []
    whole = HeaderParser._whole

    def counted(parser: HeaderParser, reading: Any, headers: Any, **more: Any) -> Any:
        unit = whole(parser, reading, headers, **more)
        found.append(parser._standard(reading) is not None)
        return unit

    monkeypatch.setattr(HeaderParser, "_whole", counted)
    return found


def written(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def reading(*headers: Path, **options: Any) -> HeaderReading:
    said = HeaderOptions(headers, language="c++", **options)
    return reader.work(HeaderRequest(said, X86, True, False, None, 100, 4 << 30, 20.0))


def without(*headers: Path, **options: Any) -> HeaderReading:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(precompiled.VARIABLE, "off")
        return reading(*headers, **options)


# --- equal facts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("library", "indifferent"),
    [("libleveldb", True), ("libre2", True), ("libsnappy", True), ("libpolyclipping", True), ("libada", False)],
)
def test_headers_of_real_libraries_tell_the_same(
    library: str, indifferent: bool, cache: Path, used: list[bool]
) -> None:
    try:
        version = ALL[library].version_numbers()[-1]
        headers = tuple(installed(library, version))
        folders = tuple(Path(each[2:]) for each in folders_of(library, version) if each.startswith("-I"))
    except Missing as missing:
        pytest.skip(str(missing))
    options: dict[str, Any] = {"include_dirs": folders, "defines": tuple(macros(library))}
    assert reading(*headers, **options) == (plain := without(*headers, **options))
    assert cache.exists() == indifferent
    if indifferent:  # or a second reading finds what the first one found, and does the same
        assert reading(*headers, **options) == plain
    assert (True in used) == indifferent


@pytest.mark.usefixtures("cache")
def test_they_are_used_where_they_make_no_difference(tmp_path: Path, used: list[bool]) -> None:
    folder = written(tmp_path / "include", PLAIN)
    assert reading(folder) == reading(folder) == without(folder)
    assert used == [True, True, False]


@pytest.mark.parametrize(
    "files",
    [
        {"a.hpp": "#ifdef INT_MAX\nint met;\n#endif\nint always;\n", "b.hpp": "#include <climits>\nint b;\n"},
        {
            "a.hpp": "extern char f[sizeof(EOF_ + 0)];\n",
            "b.hpp": "#define EOF_ 1\n#include <cstdio>\nint EOF;\n",
        },
        {"a.hpp": "int stdin;\n", "b.hpp": "#include <cstdio>\nint b;\n"},
        {"a.hpp": "#define _GLIBCXX_DEBUG 1\n#include <vector>\nstruct a { std::vector<int> held; };\n"},
        {"a.hpp": "#undef __OPTIMIZE__\n#undef __SIZEOF_INT128__\n#include <limits>\nint a;\n"},
        {"a.hpp": "#if 0\n#endif\n/*\n#include <vector>\n*/\nint a;\n"},
    ],
    ids=["condition", "macro", "name", "debug", "undefined", "comment"],
)
@pytest.mark.usefixtures("cache")
def test_they_are_not_used_where_a_macro_makes_a_difference(
    files: Mapping[str, str], tmp_path: Path, used: list[bool]
) -> None:
    folder = written(tmp_path / "include", files)
    try:
        plain = without(folder)
    except AbistoreError as error:  # what cannot be read cannot be read either way
        with pytest.raises(type(error)):
            reading(folder)
        return
    assert reading(folder) == reading(folder) == plain
    assert True not in used


@pytest.mark.usefixtures("cache")
def test_a_file_of_the_library_that_hides_one_of_the_system_is_read(tmp_path: Path, used: list[bool]) -> None:
    folder = written(tmp_path / "include", {"api.hpp": "#include <vector>\nstruct api { std::vector<int> a; };\n"})
    hiding = written(tmp_path / "hiding", {"features.h": "#include_next <features.h>\nstruct hidden { int a; };\n"})
    (hiding / "bits").mkdir()
    options = {"include_dirs": (hiding,)}
    assert reading(folder, **options) == without(folder, **options)
    written(hiding / "bits", {"stl_vector.h": "namespace std { template <class T> struct vector { T one; }; }\n"})
    assert reading(folder, **options) == without(folder, **options)
    assert used == [False] * 4


@pytest.mark.usefixtures("cache")
def test_options_are_kept_apart(tmp_path: Path) -> None:
    text = "#include <string>\nstruct api { std::string name; };\n#if __cplusplus > 201703L\nint later;\n#endif\n"
    folder = written(tmp_path / "include", {"api.hpp": text})
    for options in ({"defines": ("_GLIBCXX_USE_CXX11_ABI=0",)}, {"standard": "gnu++20"}, {}):
        assert reading(folder, **options) == without(folder, **options)  # type: ignore[arg-type]  # one of each kind


@pytest.mark.usefixtures("cache")
def test_headers_with_errors_tell_the_same_errors(tmp_path: Path) -> None:
    files = PLAIN | {
        "bad.hpp": "#include <vector>\nstruct bad { missing_t a; };\n",
        "lost.hpp": '#include "none.hpp"\n',
    }
    folder = written(tmp_path / "include", files)
    assert reading(folder) == reading(folder) == without(folder)


# --- what is kept ----------------------------------------------------------------------------------------------------


def files(cache: Path) -> list[Path]:
    return sorted(each for each in cache.iterdir() if each.suffix == ".pch")


def test_what_was_damaged_is_made_anew(cache: Path, tmp_path: Path, used: list[bool]) -> None:
    folder = written(tmp_path / "include", PLAIN)
    plain = reading(folder)
    (file,) = files(cache)
    sound = file.read_bytes()
    file.write_bytes(sound[: len(sound) // 2] + b"?" + sound[len(sound) // 2 + 1 :])
    assert reading(folder) == plain
    for record in cache.glob("*.json"):
        record.write_bytes(b"{}")
    assert reading(folder) == plain
    assert used == [True, True, True]


def test_a_changed_header_of_the_system_is_read_anew(cache: Path, tmp_path: Path) -> None:
    folder = written(tmp_path / "include", {"api.hpp": "#include <vector>\nstruct api { std::vector<int> held; };\n"})
    system = tmp_path / "system/usr/include/c++/12"
    system.mkdir(parents=True)
    (tmp_path / "system/usr/lib/gcc/x86_64-linux-gnu/12").mkdir(parents=True)
    (tmp_path / "system/usr/lib/gcc/x86_64-linux-gnu/12/crtbegin.o").touch()
    sizes = []
    for fields in ("int a;", "int a, b;", "int a, b, c;"):
        text = f"namespace std {{ template <class T> struct vector {{ {fields} }}; }}\n"
        (system / "vector").write_text(f"#pragma once\n{text}")
        assert reading(folder, sysroot=tmp_path / "system") == without(folder, sysroot=tmp_path / "system")
        found = dict(reading(folder, sysroot=tmp_path / "system").entries)[Name("record", "api")]
        sizes += [each.size for each in found if isinstance(each, Record)]
    assert sizes == [4, 8, 12]
    assert files(cache)


def test_nothing_is_kept_before_it_is_asked_for_a_third_time(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precompiled, "USES", 2)
    folder = written(tmp_path / "include", PLAIN)
    found = []
    for _ in range(3):
        reading(folder)
        found.append(len(files(cache)))
    assert found == [0, 0, 1]


def test_no_more_is_kept_than_the_limit(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "include", PLAIN)
    reading(folder)
    (first,) = files(cache)
    os.utime(first, (1, 1))
    monkeypatch.setattr(precompiled, "MOST_KEPT_BYTES", first.stat().st_size)
    (cache / "left.new").write_text("of a process that was killed")
    os.utime(cache / "left.new", (1, 1))
    reading(folder, defines=("OTHER=1",))
    (second,) = files(cache)
    assert second != first
    assert not (cache / "left.new").exists()


def test_it_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(precompiled.VARIABLE, "off")
    assert kept_files() is None
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setenv(precompiled.VARIABLE, str(open_to_all))
    assert kept_files() is None
    monkeypatch.setenv(precompiled.VARIABLE, str(written(tmp_path, {"file": ""}) / "file"))
    assert kept_files() is None
    monkeypatch.delenv(precompiled.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    found = kept_files()
    assert isinstance(found, KeptFiles)
    assert found.folder == tmp_path / "home/abistore/headers"


def test_several_processes_keep_it_at_once(cache: Path, tmp_path: Path) -> None:
    folder = written(tmp_path / "include", PLAIN)
    text = (
        "import sys\nfrom pathlib import Path\nfrom abistore.extract.headers import precompiled\n"
        "precompiled.USES = 0\nfrom tests.extract.headers.test_standard import reading\n"
        "print(len(reading(Path(sys.argv[1])).entries))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", text, str(folder)], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    told = {each.communicate()[0] for each in running}
    assert told == {f"{len(without(folder).entries)}\n"}
    assert files(cache)
    assert not [each for each in cache.iterdir() if each.suffix == ".new"]


# --- what headers include --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#ifndef A\n#define A\n#include <map>\n#ifdef B\n#include <set>\n#endif\n#endif\n", [("map", False)]),
        ('#pragma once\n # include "a b.h" // <set>\n#if X\n#else\n#include <set>\n#endif\n', [("a b.h", True)]),
        ("#include MACRO\n#include <\n#include\n#endif\n#include <map>\n", [("map", False)]),
    ],
)
def test_includes_without_a_condition_are_told(text: str, expected: list[tuple[str, bool]]) -> None:
    assert list(included(text)) == expected


def test_includes_are_followed_in_their_order(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        {"a.hpp": '#include <set>\n#include "b.hpp"\n#include <map>\n', "b.hpp": '#include "a.hpp"\n#include <list>\n'},
    )
    (folder / "deque").write_text("#include <stack>\n")
    starts = {folder / "a.hpp": (folder / "a.hpp").read_text(), folder / "c.hpp": "#include <deque>\n#include <own>\n"}
    assert standard_includes(starts, [folder], Path.read_text).names == ("set", "list", "map", "stack")


@pytest.mark.usefixtures("cache")
def test_hostile_headers_take_no_longer(tmp_path: Path) -> None:
    uses = "".join(f"#define M{n} INT_MAX\n" for n in range(20_000))
    many = "".join('#include "empty.hpp"\n' for _ in range(5_000))
    texts = {
        "a.hpp": f"#include <climits>\n{many}{uses}int a;\n",
        "empty.hpp": "",
        "huge.hpp": f"#include <climits>\n/* {'INT_MAX ' * 600_000} */\nint huge;\n",
    }
    folder = written(tmp_path / "include", texts)
    (folder / "again.hpp").symlink_to(folder / "a.hpp")
    before = time.process_time()
    plain = without(folder)
    middle = time.process_time()
    assert reading(folder) == plain
    assert time.process_time() - middle < 3 * (middle - before) + 2


def test_headers_that_change_while_they_are_kept_are_not_kept(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was parsed of the old text would pass for the new one in every later run."""
    system = written(tmp_path / "system", {"vector": "#pragma once\nstruct made { int a; };\n"})
    header = written(tmp_path / "own", {"api.hpp": "#pragma once\n#include <vector>\nint f(made *);\n"})
    tools = reader.toolchain(HeaderOptions((header,)), X86, 18)
    ours = replace(tools, arguments=(*tools.arguments, f"-isystem{system}"), folders=(*tools.folders, system))
    monkeypatch.setattr(reader, "toolchain", lambda *_: ours)
    parsed = precompiled.clang.parsed

    def then_changed(*given: Any, **more: Any) -> Any:
        unit = parsed(*given, **more)
        if more.get("prefix"):
            (system / "vector").write_text("#pragma once\nstruct made { long a; };\n")
        return unit

    monkeypatch.setattr(precompiled.clang, "parsed", then_changed)
    reading(header)
    assert cache.is_dir()
    assert not list(cache.glob("*.json"))
