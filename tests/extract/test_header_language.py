"""Language and standard of headers, told from their names and texts, or from how the library is compiled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from abistore.errors import HeaderError
from abistore.extract.headers.invocation import Reading, is_cpp, read_compile_commands, readings
from abistore.extract.reader import HeaderOptions

GUARDED = """\
#ifdef __cplusplus
extern "C" {
#endif
int open_it(const char *name);
#ifdef __cplusplus
}
#include <string>
namespace wrap { class handle { public: explicit handle(std::string); }; }
#endif
"""


@pytest.mark.parametrize(
    ("name", "text", "cpp"),
    [
        ("a.hpp", "int f(void);", True),
        ("a.hh", "", True),
        ("a.h", "int f(void);", False),
        ("a.h", GUARDED, False),
        ("a.h", GUARDED.replace("#ifdef", "#if defined(").replace("__cplusplus\n", "__cplusplus)\n"), False),
        ("a.h", "namespace a { int f(); }", True),
        ("a.h", "template<class T> T f(T);", True),
        ("a.h", '/* namespace a {} */ // class b\nint f(void); char *s = "class c";', False),
        ("a.h", "#define CLASS class x\nint f(void);", False),
        ("a.h", "#ifndef __cplusplus\ntypedef int flag;\n#else\nclass handle;\n#endif\n", False),
        ("a.h", "#if !defined(__cplusplus)\nint f(void);\n#endif\nclass handle;\n", True),
        ("a.h", "#ifdef OTHER\nclass handle;\n#endif\n", True),
        ("a.h", "struct class_of { int class; int namespace; };", False),
        ("Dense", "class Matrix { public: int x; };", True),
        ("a.h", "/* never closed " + "/*" * 100_000, False),
    ],
)
def test_a_header_is_cpp_where_no_c_compiler_can_read_it(name: str, text: str, cpp: bool) -> None:
    assert is_cpp(name, text) is cpp


def first(text: str, *, cpp_exports: bool = False, usual: dict[Any, str] | None = None, **options: Any) -> Reading:
    given = HeaderOptions((), **options)
    return readings(given, usual or {}, [("a.h", text)], cpp_exports=cpp_exports)[0]


def test_headers_for_both_languages_are_read_as_the_exports_are() -> None:
    assert first(GUARDED) == Reading("c", "gnu17")
    assert first(GUARDED, cpp_exports=True) == Reading("c++", "gnu++17")
    assert first("int f(int);", cpp_exports=True).language == "c++"


def test_what_the_caller_says_is_not_doubted() -> None:
    assert readings(HeaderOptions((), language="c"), {}, [("a.hpp", "class b;")], cpp_exports=True)[0].language == "c"
    exactly = readings(HeaderOptions((), standard="c++14"), {}, [("a.h", "int f(void);")], cpp_exports=False)
    assert exactly == [Reading("c++", "c++14")]


def test_what_the_library_is_compiled_with_is_tried_first() -> None:
    ways = readings(HeaderOptions(()), {"c++": "c++20"}, [("a.hpp", "")], cpp_exports=True)
    assert [way.standard for way in ways] == ["c++20", "gnu++17", "gnu++20", "gnu++23", "gnu++14"]


# --- compile_commands.json -------------------------------------------------------------------------------------------


def commands(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "compile_commands.json"
    path.write_text(json.dumps([{"directory": str(folder), **entry} for entry in entries]))
    return path


def test_the_commands_of_a_library_tell_folders_macros_and_the_standard(tmp_path: Path) -> None:
    one = "c++ -Iinclude -isystem third/include -DFOO_API= -DFOO_BUILD_A -std=c++20 -c src/a.cc"
    path = commands(
        tmp_path,
        {"file": "src/a.cc", "command": one},
        {"file": "src/b.cc", "arguments": ["c++", "-I", "include", "-D", "FOO_API=", "-std=c++20", "src/b.cc"]},
        {"file": "src/c.c", "command": "cc -DFOO_API= -std=gnu11 -c src/c.c"},
        {"file": "/elsewhere/d.cc", "command": "c++ -DELSEWHERE -I/elsewhere -std=c++11 -c d.cc"},
    )
    flags = read_compile_commands(path, [tmp_path / "include" / "foo"])
    assert flags.folders == (f"-I{tmp_path}/include", f"-isystem{tmp_path}/third/include")
    assert flags.macros == ("-DFOO_API=",)
    assert flags.standards == {"c++": "c++20", "c": "gnu11"}


def test_commands_of_other_places_count_where_none_is_beside_the_headers(tmp_path: Path) -> None:
    path = commands(tmp_path, {"file": "/src/a.c", "command": "cc -I/src/include -DX=1 -c a.c"})
    flags = read_compile_commands(tmp_path, [Path("/installed/include")])
    assert (flags.folders, flags.macros) == (("-I/src/include",), ("-DX=1",))
    assert path.is_file()


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"file": "a.c"}', '[{"file": 3, "directory": ""}]', "[" * 100_000, "\xff\xfe", "null"]
)
def test_commands_that_are_malformed_are_an_error_that_says_where(text: str, tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(HeaderError, match=r"compile_commands\.json"):
        read_compile_commands(path, [tmp_path])


def test_a_command_that_no_shell_could_read_tells_nothing(tmp_path: Path) -> None:
    path = commands(tmp_path, {"file": "a.c", "command": "cc -DX='"}, {"file": "b.c", "command": "cc -I"})
    assert read_compile_commands(path, [tmp_path]).folders == ()


def test_commands_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeaderError, match="No such file"):
        read_compile_commands(tmp_path / "compile_commands.json", [tmp_path])


def test_a_list_without_any_command_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HeaderError, match="the list of compile commands is empty"):
        read_compile_commands(commands(tmp_path), [tmp_path])
