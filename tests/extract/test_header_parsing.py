"""Headers become translation units: all in one, and what does not parse is tried by itself, then left out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from abistore.errors import HeaderError, LimitExceeded, PathDenied
from abistore.extract.headers import clang, given
from abistore.extract.headers.given import find_headers
from abistore.extract.headers.invocation import CommonFlags, Invocation, include_folders, readings
from abistore.extract.headers.parsing import HeaderParser, ParsedHeaders
from abistore.extract.headers.texts import ReadTexts
from abistore.extract.headers.toolchain import toolchain
from abistore.extract.reader import HeaderOptions
from abistore.files import canonical, confined
from abistore.model.snapshot import Target

X86 = Target("elf", "x86_64", 64, "little")


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def names(folder: Path, *private: str) -> list[str]:
    return [header.name for header in find_headers(HeaderOptions((folder,), private)).headers]


def parsed(*headers: Path, **options: Any) -> ParsedHeaders:
    said = HeaderOptions(headers, **options)
    found = find_headers(said)
    texts = [header.path.read_text() for header in found.headers]
    tools = toolchain(said, X86, clang.major_version())
    invocation = Invocation(tools, said, CommonFlags(), include_folders(found, texts))
    named = [(header.name, text) for header, text in zip(found.headers, texts, strict=True)]
    return HeaderParser(found, invocation, ReadTexts()).parse(readings(said, {}, named, cpp_exports=False))


def said(result: ParsedHeaders) -> list[str]:
    return [fault.said for fault in result.causes]


# --- which files are headers -----------------------------------------------------------------------------------------


def test_a_folder_gives_all_headers_below_it_but_private_ones(tmp_path: Path) -> None:
    files = {
        "a.h": "",
        "sub/b.hpp": "",
        "sub/b_p.h": "",
        "detail/c.h": "",
        "detail/deep/d.h": "",
        "part.inc": "int x;",
        "code.c": "",
        "README": "# Title",
        "QThing": "/* text */\n#ifndef Q\n#endif\n",
        "Notes": "#hash",
        ".git/e.h": "",
    }
    written(tmp_path, files)
    every = ["QThing", "a.h", "detail/c.h", "detail/deep/d.h", "sub/b.hpp", "sub/b_p.h"]
    assert names(tmp_path) == every
    assert names(tmp_path, "detail", "*_p.h") == ["QThing", "a.h", "sub/b.hpp"]
    assert names(tmp_path, "detail/*") == ["QThing", "a.h", "sub/b.hpp", "sub/b_p.h"]
    assert names(tmp_path / "part.inc") == ["part.inc"]


def test_headers_of_the_same_name_in_two_folders_have_different_names(tmp_path: Path) -> None:
    written(tmp_path, {"c/api.h": "int f(void);", "cpp/api.h": "int g(void);"})
    found = find_headers(HeaderOptions((tmp_path / "c", tmp_path / "cpp")))
    assert [header.name for header in found.headers] == ["api.h", "cpp/api.h"]


@pytest.mark.parametrize("release", ["geo-1.4", "geo-1.5"])
def test_files_of_the_same_name_are_called_alike_in_each_release(release: str, tmp_path: Path) -> None:
    """The folder around both is called after the release: with it in a name, no header would be that of the other."""
    folder = written(tmp_path / release, {"geo.h": "int f(void);", "geo/geo.h": "int g(void);", "geo/more.h": ""})
    for files in permutations([folder / "geo.h", folder / "geo" / "geo.h", folder / "geo" / "more.h"]):
        found = find_headers(HeaderOptions(files))
        assert [header.name for header in found.headers] == ["geo.h", "geo/geo.h", "more.h"]


def test_a_file_that_was_given_is_public_alone(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": '#include "b.h"\n', "b.h": ""})
    found = find_headers(HeaderOptions((tmp_path / "a.h",)))
    folder = os.path.realpath(tmp_path)
    assert (found.name(f"{folder}/a.h"), found.name(f"{folder}/b.h")) == ("a.h", None)


def test_links_that_lead_in_circles_or_nowhere_end(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": ""})
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.h").symlink_to(tmp_path / "nothing")
    assert names(tmp_path) == ["a.h"]


def test_headers_behind_a_link_to_a_folder_are_public_by_the_link(tmp_path: Path) -> None:
    written(tmp_path, {"include/all.h": '#include "geo/a.h"\n', "real/a.h": "int first(int a);\n"})
    (tmp_path / "include" / "geo").symlink_to("../real")
    found = find_headers(HeaderOptions((tmp_path / "include",)))
    assert [each.name for each in found.headers] == ["all.h", "geo/a.h"]
    assert found.name(os.path.realpath(tmp_path / "real" / "a.h")) == "geo/a.h"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda folder: folder / "missing", "no such header or folder"),
        (lambda folder: folder, "contains no header"),
        (lambda folder: Path("/dev/null"), "neither a header nor a folder"),
        (lambda folder: folder / "a" * 300, "cannot be read"),
    ],
)
def test_what_holds_no_headers_is_an_error(made: Any, said: str, tmp_path: Path) -> None:
    try:
        path = made(tmp_path)
    except TypeError:
        path = tmp_path / ("a" * 300)
    with pytest.raises(HeaderError, match=said):
        find_headers(HeaderOptions((path,)))


def test_a_header_of_a_librarys_own_folder_is_none_of_the_systems(tmp_path: Path) -> None:
    """Consumers search ``include``, and mean the C library's ``<features.h>``, which ``<stdint.h>`` needs."""
    folder = written(
        tmp_path / "include",
        {
            "geo.h": "#include <geo/features.h>\n#include <geo/more.h>\nint f(void);\n",
            "geo/features.h": "#define GEO_PNG 1\n",
            "geo/more.h": '#include <stdint.h>\n#include "features.h"\nint32_t more(void);\n',
            "geo/deep/parts.h": '#include "more.h"\nint32_t parts(void);\n',
        },
    )
    files = [folder / "geo.h", *sorted((folder / "geo").glob("*.h")), folder / "geo" / "deep" / "parts.h"]
    result = parsed(*files, language="c")
    assert (said(result), result.set_aside) == ([], {})


def test_patterns_that_hide_everything_are_an_error(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "", "b.h": ""})
    with pytest.raises(HeaderError, match="excludes all 2 headers"):
        names(tmp_path, "*")


def test_headers_without_end_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "large.h").open("wb") as file:
        file.truncate(200 << 20)
    with pytest.raises(LimitExceeded, match=r"large\.h has 200 MB"):
        names(tmp_path)
    written(tmp_path / "many", {f"{number}.h": "" for number in range(30)})
    monkeypatch.setattr(given, "MOST_HEADERS", 20)
    with pytest.raises(LimitExceeded, match="more than 20 headers"):
        names(tmp_path / "many")


# --- how they parse --------------------------------------------------------------------------------------------------


def test_headers_find_each_other_from_the_folders_that_they_name(tmp_path: Path) -> None:
    written(
        tmp_path, {"include/foo/a.h": "#include <foo/sub/b.h>\nb_t f(void);", "include/foo/sub/b.h": "typedef int b_t;"}
    )
    result = parsed(tmp_path / "include" / "foo")
    assert (result.set_aside, said(result), len(result.units)) == ({}, [], 1)


def test_headers_that_include_each_other_parse(tmp_path: Path) -> None:
    guard = '#ifndef {0}\n#define {0}\n#include "{1}.h"\ntypedef int {0}_t;\n#endif\n'
    written(tmp_path, {"a.h": guard.format("a", "b"), "b.h": guard.format("b", "a")})
    assert said(parsed(tmp_path)) == []
    written(tmp_path / "endless", {"a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n'})
    assert any("nested too deeply" in cause for cause in said(parsed(tmp_path / "endless")))


def test_a_header_that_does_not_parse_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "int f(void);", "bad.h": "int (((;\n", "c.h": "int g(void);"})
    result = parsed(tmp_path)
    assert list(result.set_aside) == ["bad.h"]
    assert said(result)[0].startswith("bad.h:1: ")
    assert [header.name for header in result.units[0].headers] == ["a.h", "c.h"]


def test_a_header_that_errs_in_the_body_of_a_function_alone_is_read_and_its_errors_told(tmp_path: Path) -> None:
    body = "static inline int bits(int x) { return _intrinsic_of_gcc(x).low; }\n"
    written(
        tmp_path, {"lib.h": f"int open(void);\n{body}int close(void);\n", "other.h": f"{body}int missing(no_type);\n"}
    )
    result = parsed(tmp_path / "lib.h", language="c")
    assert (result.set_aside, len(result.units)) == ({}, 1)
    assert "lib.h:2: call to undeclared function '_intrinsic_of_gcc'" in said(result)[0]
    assert list(parsed(tmp_path, language="c").set_aside) == ["other.h"]


def test_a_header_that_another_includes_first_is_none_that_fails(tmp_path: Path) -> None:
    part = '#ifndef TOP\n#error "include top.h instead"\n#endif\nint part(void);\n'
    written(tmp_path, {"part.h": part, "top.h": '#define TOP\n#include "part.h"\n'})
    result = parsed(tmp_path)
    assert (result.set_aside, said(result)) == ({}, [])
    (tmp_path / "top.h").write_text("int top(void);")
    assert list(parsed(tmp_path).set_aside) == ["part.h"]


def test_a_header_that_leaves_includes_to_its_consumers_parses(tmp_path: Path) -> None:
    files = {"early.h": "void late(late_t, size_t);", "late.h": "typedef int late_t; void print(FILE *);"}
    result = parsed(written(tmp_path, files))
    assert (result.set_aside, said(result)) == ({}, [])


def test_headers_that_exclude_each_other_are_read_by_themselves(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "struct s { int a; }; int f(void);", "b.h": "struct s { long b; }; int g(void);"})
    result = parsed(tmp_path)
    assert result.set_aside == {}
    assert sorted(header.name for unit in result.units for header in unit.headers) == ["a.h", "b.h"]


@pytest.mark.parametrize("top", ["all.h", "whole.h"])  # before its parts, and behind them
def test_parts_without_include_guards_are_read_where_another_header_includes_them(top: str, tmp_path: Path) -> None:
    parts = {f"part_{name}.h": f"struct {name} {{ int x; }};\nint use_{name}(struct {name});\n" for name in "abc"}
    guarded = "#pragma once\n" + "".join(f'#include "{name}"\n' for name in parts)
    written(tmp_path, {**parts, top: guarded, "over.h": f'#include "{top}"\nint over(struct a);\n'})
    result = parsed(tmp_path)
    assert (result.set_aside, said(result)) == ({}, [])
    assert [sorted(header.name for header in unit.headers) for unit in result.units] == [sorted([top, "over.h"])]


def test_a_header_with_several_names_is_parsed_once(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "#pragma once\nstruct a { int x; };\n", "z.h": '#include "a.h"\nint use(struct a);\n'})
    (tmp_path / "link.h").symlink_to("a.h")
    (tmp_path / "other.h").hardlink_to(tmp_path / "a.h")
    result = parsed(tmp_path)
    assert (result.set_aside, said(result)) == ({}, [])
    assert [[header.name for header in unit.headers] for unit in result.units] == [["a.h", "link.h", "other.h", "z.h"]]


def test_parts_of_a_header_that_does_not_parse_are_read_by_themselves(tmp_path: Path) -> None:
    part = "struct a { int x; };\nint use(struct a);\n"
    written(tmp_path, {"part.h": part, "top.h": '#include "part.h"\nint (((;\n', "fine.h": '#include "part.h"\n'})
    result = parsed(tmp_path)
    assert list(result.set_aside) == ["top.h"]
    (tmp_path / "fine.h").unlink()
    result = parsed(tmp_path)
    assert list(result.set_aside) == ["top.h"]
    assert [header.name for unit in result.units for header in unit.headers] == ["part.h"]


def test_a_missing_include_is_named_with_the_option_that_mends_it(tmp_path: Path) -> None:
    written(tmp_path, {"lib/a.h": "#include <other/b.h>\nother_t f(void);", "third/other/b.h": "typedef int other_t;"})
    with pytest.raises(HeaderError, match=r"lib/a\.h|a\.h:1: 'other/b\.h' file not found") as error:
        parsed(tmp_path / "lib")
    assert error.value.hint == "pass the folder that contains other/b.h with --include-dir"
    assert said(parsed(tmp_path / "lib", include_dirs=(tmp_path / "third",))) == []


def test_headers_that_lack_files_are_not_parsed_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = {f"{name}.h": f"#include <gone/{name}.h>\nint {name}(void);" for name in "abcdef"}
    units: list[int] = []
    parse = clang.parsed

    def parse_and_note(file: str, text: str, *rest: Any, **how: Any) -> clang.TranslationUnit | None:
        units.append(text.count(str(tmp_path)))
        return parse(file, text, *rest, **how)

    monkeypatch.setattr(clang, "parsed", parse_and_note)
    result = parsed(written(tmp_path, {**lacking, "fine.h": "int f(void);"}))
    assert sorted(result.set_aside) == sorted(lacking)
    assert [faults[0].said for faults in result.set_aside.values()] == [
        f"{name}.h:1: 'gone/{name}.h' file not found" for name in "abcdef"
    ]
    assert [header.name for header in result.units[0].headers] == ["fine.h"]
    assert units == [7, 6, 1]  # all, those that lack files, the others


def test_no_other_standard_is_tried_where_errors_follow_from_a_missing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a_all.h": "#include <gone.h>\nGONE_API int all(gone_t);", "b.h": "GONE_API int b(gone_t);"}
    files |= {"c.h": '#include "a_all.h"\nint c(gone_t);', "fine.h": "int fine(void);"}
    standards: list[str] = []
    parse = clang.parsed

    def parse_and_note(file: str, text: str, arguments: Sequence[str], *rest: Any, **how: Any) -> Any:
        standards.extend(each for each in arguments if each.startswith("-std="))
        return parse(file, text, arguments, *rest, **how)

    monkeypatch.setattr(clang, "parsed", parse_and_note)
    result = parsed(written(tmp_path, files), language="c++")
    assert sorted(result.set_aside) == ["a_all.h", "b.h", "c.h"]
    others = [each for each in dict.fromkeys(standards) if each != standards[0]]
    assert [standards.count(each) for each in others] == [1, 1]  # the latest and the one before: neither is better


def test_a_header_that_does_not_parse_costs_one_more_parse_without_bodies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a.h": "#pragma once\nint a(void);", "bad.h": "int (((;", "c.h": '#include "a.h"\nint c(void);'}
    units: list[tuple[int, bool]] = []
    parse = clang.parsed

    def parse_and_note(file: str, text: str, *rest: Any, **how: Any) -> clang.TranslationUnit | None:
        units.append((text.count(str(tmp_path)), how["bodies"]))
        return parse(file, text, *rest, **how)

    monkeypatch.setattr(clang, "parsed", parse_and_note)
    result = parsed(written(tmp_path, files), standard="c17")
    assert list(result.set_aside) == ["bad.h"]
    assert [header.name for header in result.units[0].headers] == ["a.h", "c.h"]
    assert units == [(3, True), (3, True), (1, False)]  # all, with the bad one last, and that one


def test_headers_that_lack_files_for_a_macro_of_another_header_are_read_by_themselves(tmp_path: Path) -> None:
    optional = "#ifdef HAVE_GONE\n#include <gone.h>\n#endif\nint {0}(void);"
    files = {"a_config.h": "#define HAVE_GONE 1", "b.h": optional.format("b"), "c.h": optional.format("c")}
    result = parsed(written(tmp_path, files))
    assert (result.set_aside, said(result)) == ({}, [])
    assert sorted(header.name for unit in result.units for header in unit.headers) == sorted(files)


def test_errors_elsewhere_are_told_and_leave_the_header_in(tmp_path: Path) -> None:
    written(tmp_path, {"lib/a.h": '#include "../other/b.h"\nint f(void);', "other/b.h": "int (((;\n"})
    result = parsed(tmp_path / "lib" / "a.h", include_dirs=(tmp_path / "other",))
    assert (result.set_aside, said(result)) == ({}, [])
    assert {fault.said.partition(": ")[0] for fault in result.faults} == {"b.h:1"}


def test_a_standard_that_headers_need_is_found(tmp_path: Path) -> None:
    written(tmp_path, {"a.hpp": "template<class T> concept Any = true; consteval int f() { return 1; }"})
    assert parsed(tmp_path).reading.standard == "gnu++20"
    written(tmp_path, {"a.hpp": "void f() throw(int);"})
    assert parsed(tmp_path).reading.standard == "gnu++14"
    written(
        tmp_path, {"a.hpp": "#if __cplusplus < 202002L\n#error C++20 is needed\n#endif", "b.hpp": '#include "a.hpp"'}
    )
    assert parsed(tmp_path).reading.standard == "gnu++20"


def test_a_language_that_was_guessed_wrong_is_changed(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "inline int f(int &x) { return x; }\nint g(bool);"})
    assert parsed(tmp_path).reading.language == "c++"


def test_what_the_caller_defines_and_passes_on_is_heard(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "#ifdef WITH_X\nint (((;\n#endif\n#ifdef Y\nint )))\n#endif\nint f(void);"})
    assert said(parsed(tmp_path)) == []
    for options in ({"defines": ("WITH_X=1",)}, {"clang_args": ("-DY",)}):
        with pytest.raises(HeaderError, match=r"the header does not parse: a\.h:"):
            parsed(tmp_path, **options)


def test_nothing_that_parses_is_an_error_with_the_first_three_causes(tmp_path: Path) -> None:
    written(tmp_path, {f"{name}.h": f"{name} (((;\n" for name in "abcde"})
    with pytest.raises(HeaderError, match=r"none of the 5 headers parses: a\.h:1: .*; b\.h:1: .*; c\.h:1: ") as error:
        parsed(tmp_path, language="c")
    assert "d.h" not in error.value.message


@pytest.mark.parametrize(
    ("text", "hint", "defines"),
    [
        ("FOO_API int first(int);\nFOO_API struct point *second(void);", "FOO_API: --define FOO_API=", "FOO_API="),
        ("int FOO_CALL first(int);", "FOO_CALL: --define FOO_CALL=", "FOO_CALL="),
        ("int first(int) FOO_NOTHROW;", "FOO_NOTHROW: --define FOO_NOTHROW=", "FOO_NOTHROW="),
        ("FOO_EXPORT(int) first(int);", "FOO_EXPORT: --define 'FOO_EXPORT(type)=type'", "FOO_EXPORT(type)=type"),
        ("FOO_BEGIN_DECLS\nint first(int);", "FOO_BEGIN_DECLS: --define FOO_BEGIN_DECLS=", "FOO_BEGIN_DECLS="),
        (
            "struct Foo {\n  FOO_NO_COPY(Foo);\n  Foo();\n};",
            "FOO_NO_COPY: --define 'FOO_NO_COPY(...)='",
            "FOO_NO_COPY(...)=",
        ),
        ("class FOO_API Foo { public: Foo(); };", "FOO_API: --define FOO_API=", "FOO_API="),
        ("class FOO_API Foo\n{ public: Foo(); };", "FOO_API: --define FOO_API=", "FOO_API="),
        ("struct FOO_NOTE(1) Foo { Foo(); };", "FOO_NOTE: --define 'FOO_NOTE(...)='", "FOO_NOTE(...)="),
        ("namespace x { FOO_API int first(int &); }", "FOO_API: --define FOO_API=", "FOO_API="),
    ],
)
def test_a_macro_that_the_build_defines_is_named_with_the_option_that_mends_it(
    text: str, hint: str, defines: str, tmp_path: Path
) -> None:
    written(tmp_path, {"a.h": text})
    with pytest.raises(HeaderError) as error:
        parsed(tmp_path)
    assert error.value.hint.startswith(f"if the build defines {hint}; or ")
    assert said(parsed(tmp_path, defines=(defines,))) == []


def test_all_macros_that_are_missing_are_named_at_once(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "FOO_API int first(void);\nFOO_EXPORT(int) second(int);\nint third(int);"})
    with pytest.raises(HeaderError) as error:
        parsed(tmp_path)
    assert "--define FOO_API= --define 'FOO_EXPORT(type)=type'; or " in error.value.hint


def test_a_macro_that_is_defined_is_no_cause(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "#define FOO_API\nclass FOO_API Foo { missing here; };"})
    with pytest.raises(HeaderError) as error:
        parsed(tmp_path)
    assert "FOO_API" not in error.value.hint


@pytest.mark.parametrize("text", ["MY_TYPE *first(int);", "int first(MY_TYPE a);", "int first[MY_COUNT];"])
def test_a_type_or_number_in_capitals_is_not_taken_for_an_attribute(text: str, tmp_path: Path) -> None:
    written(tmp_path, {"a.h": text})
    with pytest.raises(HeaderError) as error:
        parsed(tmp_path)
    assert "if the build defines" not in error.value.hint


def test_a_type_that_is_missing_is_not_taken_for_a_macro(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "point_t *first(int);"})
    with pytest.raises(HeaderError) as error:
        parsed(tmp_path)
    assert "--define" in error.value.hint
    assert "if the build defines" not in error.value.hint


def test_arguments_that_clang_does_not_know_are_an_error(tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "int f(void);"})
    with pytest.raises(HeaderError):
        parsed(tmp_path, clang_args=("-std=c99", "-target", "no-such-machine", "--no-such-option"))


@pytest.mark.parametrize("argument", ["-fno-such-thing", "--bogus", "-fsanitize=nothing"])
def test_an_argument_that_clang_leaves_out_is_an_error_with_its_name(argument: str, tmp_path: Path) -> None:
    written(tmp_path, {"a.h": "int f(void);"})
    with pytest.raises(HeaderError, match=argument.partition("=")[0]) as error:
        parsed(tmp_path, clang_args=(argument,))
    assert "--clang-arg" in error.value.hint


# --- what may be read ------------------------------------------------------------------------------------------------


def test_no_text_of_a_file_that_is_no_header_is_quoted(tmp_path: Path) -> None:
    secret = written(tmp_path, {"secret/passwords": "hunter2:x:0:0\n"}) / "secret" / "passwords"
    written(tmp_path, {"lib/a.h": f'#include "{secret}"\nint f(void);\n'})
    result = parsed(tmp_path / "lib")
    assert next(fault.said for fault in result.faults) == "passwords is included by a.h and cannot be parsed"
    assert "hunter2" not in str([fault.said for fault in result.faults])


@pytest.mark.parametrize("way", ["absolute", "relative", "link", "folder"])
def test_nothing_outside_of_the_folders_that_may_be_read_is_read(way: str, tmp_path: Path) -> None:
    written(tmp_path, {"outside/secret.h": "#define SECRET 42\nint hunter2;\n", "roots/lib/a.h": ""})
    secret, header = tmp_path / "outside" / "secret.h", tmp_path / "roots" / "lib" / "a.h"
    named = {"absolute": str(secret), "relative": "../../outside/secret.h"}.get(way, "inner/secret.h")
    header.write_text(f'#include "{named}"\n#include <stddef.h>\nint f(size_t);\n')
    if way == "folder":
        (tmp_path / "roots" / "lib" / "inner").symlink_to(secret.parent)
    elif way == "link":
        (tmp_path / "roots" / "lib" / "inner").mkdir()
        (tmp_path / "roots" / "lib" / "inner" / "secret.h").symlink_to(secret)
    with confined([canonical(tmp_path / "roots")]), pytest.raises(PathDenied) as error:
        parsed(header)
    assert "hunter2" not in error.value.message


@pytest.mark.parametrize("name", ["{outside}/{file}", "../../outside/{file}"])
def test_whether_a_file_is_there_that_may_not_be_read_is_not_told(name: str, tmp_path: Path) -> None:
    written(tmp_path, {"outside/there.h": "", "roots/lib/a.h": ""})
    told = set()
    for file in ("there.h", "absent.h"):
        included = name.format(outside=tmp_path / "outside", file=file)
        (tmp_path / "roots" / "lib" / "a.h").write_text(f'#include "{included}"\nint f(void);\n')
        with confined([canonical(tmp_path / "roots")]), pytest.raises(PathDenied) as error:
            parsed(tmp_path / "roots" / "lib")
        told.add(error.value.message.replace(file, ""))
    assert told == {": not below a folder that may be read"}


def test_headers_inside_of_the_folders_and_of_the_system_are_read(tmp_path: Path) -> None:
    written(
        tmp_path, {"lib/a.h": '#include "b.h"\n#include <stdio.h>\nb_t f(FILE *);\n', "lib/b.h": "typedef int b_t;\n"}
    )
    with confined([canonical(tmp_path)]):
        assert said(parsed(tmp_path / "lib")) == []
