"""What real compilers build, judged with the headers that programs include."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.build import build_library
from tests.cli.conftest import Call, Done

STRIPPED = ("-O1", "-s")
DESCRIBED = ("-g", "-O1")


class Build(NamedTuple):
    """A release: its public header, what its source adds, and whether it is described."""

    header: str
    source: str
    language: str = "c"
    flags: Sequence[str] = STRIPPED

    def library(self) -> Path:
        text = f'#include "api.h"\n{self.source}'
        return build_library(text, language=self.language, flags=self.flags, files={"api.h": self.header})

    @property
    def include(self) -> Path:
        return self.library().parent / "api.h"


def judged(abistore: Call, old: Build, new: Build, *more: object, headers: str = "both") -> tuple[str, dict[str, str]]:
    """The verdict, and the impact of each kind that was found."""
    given = [
        f"--{side}-header {build.include}" for side, build in (("old", old), ("new", new)) if headers in (side, "both")
    ]
    words = [word for each in given for word in each.split()]
    answer = abistore("compare", old.library(), new.library(), *words, *more, "--format", "json").json
    found = [each for finding in answer["changes"] for each in (finding, *finding["consequences"])]
    return answer["verdict"], {each["kind"]: each["impact"] for each in found}


def stored(abistore: Call, old: Build, new: Build) -> str:
    """The verdict of two releases that were stored with their headers, which are not given again."""
    for label, build in (("1", old), ("2", new)):
        abistore("ingest", build.library(), "--library", "libcase", "--version", label, "--header", build.include)
    return str(abistore("compare", "libcase@1", "libcase@2", "--format", "json").json["verdict"])


HANDLE = "struct handle; struct handle *open_it(void); int use_it(struct handle *h);"


def handle(members: str, *, flags: Sequence[str] = DESCRIBED) -> Build:
    source = f"struct handle {{ {members} }}; static struct handle one;\n"
    source += "struct handle *open_it(void) { return &one; } int use_it(struct handle *h) { return h == &one; }"
    return Build(HANDLE, source, flags=flags)


def test_a_private_struct_behind_a_public_pointer_may_change(abistore: Call) -> None:
    verdict, kinds = judged(abistore, handle("int a;"), handle("long b; char name[64];"))
    assert verdict != "BREAKING"
    assert kinds == {"type_private_changed.opaque": "compatible"}


def test_so_it_may_where_both_releases_were_stored(abistore: Call) -> None:
    assert stored(abistore, handle("int a;"), handle("long b; char name[64];")) == "COMPATIBLE"


POINT = "struct point {{ {} }}; int norm(const struct point *p);"


def point(members: str, flags: Sequence[str] = STRIPPED) -> Build:
    return Build(POINT.format(members), "int norm(const struct point *p) { return p->x; }", flags=flags)


@pytest.mark.parametrize("flags", [STRIPPED, DESCRIBED])
@pytest.mark.parametrize("members", ["int x, y, z;", "long x; int y;", "int y, x;"])
def test_a_public_struct_of_a_library_changes(abistore: Call, members: str, flags: Sequence[str]) -> None:
    assert judged(abistore, point("int x, y;", flags), point(members, flags))[0] == "BREAKING"


def test_so_it_does_where_both_releases_were_stored(abistore: Call) -> None:
    assert stored(abistore, point("int x, y;"), point("int x, y, z;")) == "BREAKING"


CLASS = "class Log {{ {} public: Log(); int add(int n{}); {} }};"


def log(private: str = "int size;", default: str = "", public: str = "", more: str = "", before: str = "") -> Build:
    source = f"Log::Log() : size(0) {{}} int Log::add(int n) {{ return size += n; }} {more}"
    return Build(before + CLASS.format(private, default, public), source, "c++")


GET = "int Log::get() { return 1; }"
TEXTS = {
    "inline body": (
        log(public="int one() { return 1; }"),
        log(public="int one() { return 2; }"),
        {"inline_body_changed.self_contained": "compatible"},
    ),
    "default argument": (log(default=" = 1"), log(default=" = 2"), {"param_default_value_changed": "compatible"}),
    "default argument removed": (log(default=" = 1"), log(), {"param_default_value_removed": "api_break"}),
    "macro": (
        log(before="#define LIMIT 10\n"),
        log(before="#define LIMIT 20\n"),
        {"constant_changed": "api_break"},
    ),
    "macro removed": (log(before="#define LIMIT 10\n"), log(), {"constant_removed": "api_break"}),
    "access": (
        log(public="int get();", more=GET),
        log(public="private: int get();", more=GET),
        {"method_access_changed": "api_break"},
    ),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_change_of_text_breaks_no_built_program(abistore: Call, what: str) -> None:
    old, new, expected = TEXTS[what]
    verdict, kinds = judged(abistore, old, new)
    assert kinds == expected
    assert verdict == next(iter(expected.values())).upper()


def overloads(*types: str, result: str = "int") -> Build:
    """A function for an ``int``, and overloads of it, the result of which is said."""
    declared = [("int", "int"), *((result, each) for each in types)]
    header = "".join(f"{given} area({taken});\n" for given, taken in declared)
    return Build(header, "".join(f"{given} area({taken}) {{ return 1; }}\n" for given, taken in declared), "c++")


NEARER = {"overload_ambiguity_introduced": "risk", "overload_set_rerouted": "risk"}
"""A further overload for numbers: other calls choose it, or find both equally near."""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (overloads(), overloads("long"), {"func_added": "compatible", **NEARER}),
        (overloads("long"), overloads(), {"func_removed": "breaking"}),
        (overloads("long"), overloads("double"), {"func_removed": "breaking", "func_added": "compatible", **NEARER}),
        (overloads("long"), overloads("long", result="long"), {"func_return_changed": "breaking"}),
    ],
    ids=["added", "removed", "of another parameter", "with another result"],
)
def test_an_overload_is_judged_by_itself(abistore: Call, old: Build, new: Build, expected: dict[str, str]) -> None:
    verdict, kinds = judged(abistore, old, new)
    assert kinds == expected
    assert verdict == ("BREAKING" if "breaking" in expected.values() else "COMPATIBLE_WITH_RISK")


def test_an_undeclared_export_may_go(abistore: Call) -> None:
    old = Build(HANDLE, handle("int a;").source + "\nint helper(void) { return 1; }")
    assert judged(abistore, old, handle("int a;", flags=STRIPPED))[1] == {"symbols_removed.undeclared": "compatible"}


def test_one_that_an_inline_function_of_a_header_calls_may_not(abistore: Call) -> None:
    private = "int size; int grow(int); public: int fill(int n) { return grow(n); }"
    old, new = log(private, more="int Log::grow(int n) { return n; }"), log(private)
    verdict, kinds = judged(abistore, old, new)
    assert (verdict, kinds["func_removed"]) == ("BREAKING", "breaking")


def test_a_private_function_may_go_that_no_inline_function_calls(abistore: Call) -> None:
    private = "int size; int grow(int);"
    old, new = log(private, more="int Log::grow(int n) { return n; }"), log(private)
    verdict, kinds = judged(abistore, old, new)
    assert kinds == {"symbols_removed.inaccessible": "risk"}
    assert verdict == "COMPATIBLE_WITH_RISK"


def test_the_copy_of_an_inline_function_may_go(abistore: Call) -> None:
    inline = "int one() { return 1; }"
    old = log(public=inline, more="int (Log::*taken)() = &Log::one;")
    assert judged(abistore, old, log(public=inline, more="int (Log::*taken)() = nullptr;"))[0] != "BREAKING"


def test_a_function_of_which_programs_have_no_copy_may_not_go_although_its_symbol_is_weak(abistore: Call) -> None:
    declared = "int weak();"
    old = log(public=declared, more="__attribute__((weak)) int Log::weak() { return 1; }")
    assert judged(abistore, old, log(public=declared))[0] == "BREAKING"


def test_a_class_behind_a_private_pointer_may_change(abistore: Call) -> None:
    def side(members: str) -> Build:
        header = "class Log { struct Impl; Impl *impl; public: Log(); int add(int); };"
        source = (
            f"struct Log::Impl {{ {members} }}; Log::Log() : impl(new Impl) {{}} int Log::add(int n) {{ return n; }}"
        )
        return Build(header, source, "c++", DESCRIBED)

    assert judged(abistore, side("int a;"), side("long b, c;"))[0] in ("NO_CHANGE", "COMPATIBLE")


def test_headers_of_one_side_are_said_not_to_be_compared(abistore: Call) -> None:
    old, new = point("int x, y;"), point("int x, y;")
    answer = abistore("compare", old.library(), new.library(), "--old-header", old.include, "--format", "json").json
    (said,) = [each for each in answer["not_checked"] if each["facet"] == "source"]
    assert said["side"] == "new"
    assert "--new-header" in said["hint"] or "--header" in said["hint"]


def test_other_macros_remove_nothing(abistore: Call) -> None:
    header = "int norm(int); \n#ifdef MORE\nint more(int);\n#endif\n"
    build = Build(header, "int norm(int x) { return x; } int more(int x) { return x; }")
    same = build.include
    old = abistore("export", build.library(), "--header", same, "--define", "MORE", "-o", same.parent / "old.json")
    assert old.code == 0
    done = abistore("compare", same.parent / "old.json", build.library(), "--new-header", same, "--format", "json")
    assert not [each for each in done.json["changes"] if "removed" in each["kind"]]
    assert [each["reason"] for each in done.json["not_checked"] if each["facet"] == "source"] == [
        "headers-selected-differently"
    ]


def test_a_gate_that_needs_headers_holds_where_they_were_read_otherwise(abistore: Call) -> None:
    header = "int norm(int); \n#ifdef MORE\nint more(int);\n#endif\n"
    build = Build(header, "int norm(int x) { return x; } int more(int x) { return x; }")
    same = build.include
    abistore("export", build.library(), "--header", same, "--define", "MORE", "-o", same.parent / "older.json")
    words = ("compare", same.parent / "older.json", build.library(), "--new-header", same)
    assert abistore(*words).code == 0
    assert abistore(*words, "--require", "source").code >= 64


def parts(*names: str, folder: bool = False, beside: str = "") -> tuple[Path, list[Path]]:
    """A library of functions that a header each declares, and what is given of its headers: none of ``beside``."""
    headers = {f"include/{each}.h": f"int {each}(int);\n#define SIZE_{each} 1\n" for each in (*names, *beside)}
    source = "int a(int x) { return x; } int b(int x) { return x; } int c(int x) { return x; }"
    built = build_library(source, flags=STRIPPED, files=headers)
    include = built.parent / "include"
    return built, [include] if folder else [include / f"{each}.h" for each in names]


Given = tuple[Path, list[Path]]


def given_to(abistore: Call, old: Given, new: Given, *more: str) -> Done:
    words: list[object] = [old[0], new[0]]
    for side, (_, headers) in (("old", old), ("new", new)):
        words += [word for header in headers for word in (f"--{side}-header", header)]
    return abistore("compare", *words, *more)


@pytest.mark.parametrize("side", ["old", "new"])
@pytest.mark.parametrize("folder", [False, True])
def test_a_header_that_only_one_side_was_given_is_not_checked(abistore: Call, side: str, folder: bool) -> None:
    both, one = parts("a", "b", folder=folder), parts("a", beside="b")
    old, new = (one, both) if side == "old" else (both, one)
    answer = given_to(abistore, old, new, "--format", "json").json
    assert answer["changes"] == []
    (said,) = [each for each in answer["not_checked"] if each["facet"] == "source"]
    assert (said["reason"], said["side"]) == ("headers-not-given", side)
    assert ("include/" if folder else "b.h") in said["detail"]
    assert "same headers" in said["hint"]


def test_a_header_that_is_gone_from_a_folder_that_both_sides_were_given_is_removed(abistore: Call) -> None:
    answer = given_to(abistore, parts("a", "b", folder=True), parts("a", folder=True), "--format", "json").json
    kinds = {each["kind"] for each in answer["changes"]}
    assert {"header_removed", "constant_removed"} <= kinds
    assert not [each for each in answer["not_checked"] if each["facet"] == "source"]


@pytest.mark.parametrize("required", ["source", "old"])
def test_no_gate_is_passed_by_giving_fewer_headers(abistore: Call, required: str) -> None:
    assert given_to(abistore, parts("a", "b"), parts("a", "b"), "--require", required).code == 0
    assert given_to(abistore, parts("a", "b"), parts("a", beside="b"), "--require", required).code >= 64


def test_headers_that_only_one_side_was_given_are_known_of_stored_releases(abistore: Call) -> None:
    for label, (library, headers) in (("1", parts("a", "b")), ("2", parts("a", beside="b"))):
        words = [word for header in headers for word in ("--header", header)]
        abistore("ingest", library, "--library", "libcase", "--version", label, *words)
    answer = abistore("compare", "libcase@1", "libcase@2", "--format", "json").json
    assert [each["reason"] for each in answer["not_checked"] if each["facet"] == "source"] == ["headers-not-given"]
    assert answer["changes"] == []


@pytest.mark.parametrize(
    ("sources", "kind", "said"),
    [
        (("int gone(int n) { return n; }", ""), "func_removed", "public headers declare the function"),
        (("", "int gone(int n) { return n; }"), "func_added", "public headers already declared it"),
    ],
    ids=["no longer exported", "exported now"],
)
def test_a_finding_tells_that_headers_declare_a_function_that_one_side_does_not_export(
    abistore: Call, sources: tuple[str, str], kind: str, said: str
) -> None:
    old, new = (Build("int kept(int); int gone(int);", f"int kept(int n) {{ return n; }} {each}") for each in sources)
    words = ("--old-header", old.include, "--new-header", new.include, "--format", "json")
    (found,) = abistore("compare", old.library(), new.library(), *words).json["changes"]
    assert found["kind"] == kind
    assert said in found["description"]
