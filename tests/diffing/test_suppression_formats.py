"""Skip lists and libabigail's specifications mean here what they mean there; unsupported parts are rejected."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.suppression import Suppressions
from abistore.diffing.suppression_files import load
from abistore.errors import PolicyError
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.diffing.model import CODE, INT, record, snapshot, struct, to, uses

TODAY = date(2026, 6, 1)


def held(path: Path, text: str, prefix: str = "") -> Suppressions:
    path.write_text(text)
    return load([f"{prefix}{path}"], scheme="auto", today=TODAY, strict=False)


GONE = ("gone", "_ZN3geo4moveEi", "_ZN3geo4stopEv")


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("gone\n", {"_ZN3geo4moveEi", "_ZN3geo4stopEv"}),
        ("# a comment\n\n  gone@@V1  \n", {"_ZN3geo4moveEi", "_ZN3geo4stopEv"}),
        ("_ZN3geo4moveEi\ngeo::stop\n", {"gone"}),
        ("_ZN3geo*\n", {"gone"}),
        ("*\n", set()),
        ("one\n", set(GONE)),
    ],
)
def test_a_skip_list_of_symbols_takes_names_and_wildcards(tmp_path: Path, lines: str, left: set[str]) -> None:
    symbols = {Name("function", each): CODE for each in GONE}
    keeps = {Name("function", "_ZN3geo3getEv"): CODE, Name("function", "_ZN4more3getEv"): CODE}
    old, new = snapshot({}, symbols={**symbols, **keeps}), snapshot({}, symbols=keeps)
    found = compare(old, new, Ruling(suppressions=held(tmp_path / "skip-symbols.list", lines))).findings
    assert {finding.name.spelling for finding in found} == left


@pytest.mark.parametrize("line", ["geo::Point", "struct geo::Point", "geo::*"])
def test_a_skip_list_of_types_takes_names_and_wildcards(tmp_path: Path, line: str) -> None:
    use, point = Name("function", "use"), record("geo::Point")
    old, new = (snapshot({use: uses(to(point)), point: each}) for each in (struct(INT), struct(INT, INT)))
    assert compare(old, new).findings
    assert not compare(old, new, Ruling(suppressions=held(tmp_path / "l.txt", f"{line}\n", "skip-types:"))).findings


def test_a_list_that_does_not_tell_what_it_lists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="no format") as refused:
        held(tmp_path / "names.txt", "gone\n")
    assert "skip-symbols:FILE" in refused.value.hint


HEAD = "struct s { int a; int b; }; union u { int a; }; enum e { ONE, TWO }; typedef int number;\n"
USES = "int by_pointer(struct s *p) { return p->a; }\nint by_union(union u *p) { return p->a; }\n"
LEFT = "int left(enum e *e) { return *e; }\nnumber n;\n"
BASE = HEAD + USES + LEFT + "int gone(int a) { return a; }\nlong object = 1;\n"
CHANGES: Mapping[str, tuple[str, str]] = {
    "function": ("int gone(int a) { return a; }", ""),
    "added": ("int gone(int a)", "int fresh(void) { return 1; }\nint gone(int a)"),
    "parameter": ("int gone(int a)", "int gone(long a)"),
    "variable": ("long object = 1;", ""),
    "struct": ("int b; };", "long b; };"),
    "union": ("union u { int a;", "union u { int a; long b;"),
    "enum": ("TWO }", "TWO = 5 }"),
    "enumerator": ("TWO }", "TWO, THREE }"),
}
"""One change each, from the base."""

SPECIFICATIONS = [
    ("function", "[suppress_function]\nname = gone", True),
    ("function", "[suppress_function]\nname_regexp = ^go", True),
    ("function", "[suppress_function]\nname_regexp = ^on", False),
    ("function", "[suppress_function]\nsymbol_name = gone\nchange_kind = deleted-function", True),
    ("function", "[suppress_function]\nsymbol_name = gone\nchange_kind = added-function", False),
    ("function", "[suppress_function]\nsymbol_name_regexp = g.ne$\nchange_kind = all", True),
    ("function", "[suppress_function]\nsymbol_name_not_regexp = ^gone$", False),
    ("function", "[suppress_variable]\nname = gone", False),
    ("added", "[suppress_function]\nname = fresh\nchange_kind = added-function", True),
    ("added", "[suppress_function]\nname = fresh\nchange_kind = deleted-function", False),
    ("parameter", "[suppress_function]\nname = gone", True),
    ("parameter", "[suppress_function]\nname = gone\nchange_kind = function-subtype-change", True),
    ("parameter", "[suppress_function]\nparameter = '0 int", True),
    ("parameter", "[suppress_function]\nparameter = '0 /^in/", True),
    ("parameter", "[suppress_function]\nparameter = '1 int", False),
    ("parameter", "[suppress_function]\nparameter = '0 short", False),
    ("parameter", "[suppress_function]\nreturn_type_name = int", True),
    ("parameter", "[suppress_function]\nreturn_type_regexp = ^in", True),
    ("parameter", "[suppress_function]\nreturn_type_name = long", False),
    ("variable", "[suppress_variable]\nname = object", True),
    ("variable", "[suppress_variable]\nsymbol_name_regexp = ^obj\nchange_kind = deleted-variable", True),
    ("variable", "[suppress_variable]\ntype_name = long int", True),
    ("variable", "[suppress_variable]\ntype_name = short", False),
    ("struct", "[suppress_type]\nname = s", True),
    ("struct", "[suppress_type]\nname_regexp = ^s$", True),
    ("struct", "[suppress_type]\nname = s\ntype_kind = struct", True),
    ("struct", "[suppress_type]\nname = s\ntype_kind = enum", False),
    ("struct", "[suppress_type]\nname = s\naccessed_through = reference-or-pointer", True),
    ("struct", "[suppress_type]\nname = s\nhas_data_member = b\nhas_size_change = yes", None),
    ("struct", "[suppress_type]\nname = s\nsource_location_not_regexp = nothing", True),
    ("struct", "[suppress_type]\nname = other", False),
    ("union", "[suppress_type]\ntype_kind = union\nname = u", True),
    ("enum", "[suppress_type]\nname = e\ntype_kind = enum", False),
    ("enumerator", "[suppress_type]\nname = e\ntype_kind = enum", True),
    ("enumerator", "[suppress_type]\ntype_kind = enum\nchanged_enumerators = ONE", True),
    ("enum", "[suppress_type]\ntype_kind = enum\nchanged_enumerators = TWO", True),
    ("enum", "[suppress_type]\ntype_kind = enum\nchanged_enumerators = ONE, THREE", False),
    ("struct", "[suppress_type]\nname = s\nsoname_regexp = ^libcase", True),
    ("struct", "[suppress_type]\nname = s\nsoname_not_regexp = ^libcase", False),
    ("struct", "[suppress_type]\nname = s\nfile_name_regexp = nothing_like_it", False),
]


@cache
def library(change: str) -> Path:
    source = BASE.replace(*CHANGES[change]) if change else BASE
    return build_library(source, flags=("-g",), soname="libcase.so.1")


@cache
def read(path: Path) -> Snapshot:
    return read_snapshot(path, ExtractOptions(library="libcase"))


@pytest.mark.parametrize(("change", "text", "quiet"), SPECIFICATIONS)
def test_a_specification_of_libabigail_suppresses_what_it_says(
    tmp_path: Path, change: str, text: str, quiet: bool | None
) -> None:
    path = tmp_path / "known.abignore"
    if quiet is None:
        with pytest.raises(PolicyError, match="not supported"):
            held(path, text)
        return
    old, new = read(library("")), read(library(change))
    assert compare(old, new).findings
    comparison = compare(old, new, Ruling(suppressions=held(path, text + "\n")))
    assert (not comparison.findings) is quiet


@pytest.mark.full
@pytest.mark.parametrize(("change", "text", "quiet"), [each for each in SPECIFICATIONS if each[2] is not None])
def test_what_a_specification_of_libabigail_suppresses_is_what_abidiff_says(
    tmp_path: Path, change: str, text: str, quiet: bool
) -> None:
    (tmp_path / "known.abignore").write_text(text + "\n")
    command = ["abidiff", "--suppr", tmp_path / "known.abignore", library(""), library(change)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) is quiet, done.stdout


def test_a_type_is_excepted_by_an_expression(tmp_path: Path) -> None:
    old, new = read(library("")), read(library("struct"))
    text = "[suppress_type]\nname_not_regexp = ^s$\n"
    assert compare(old, new, Ruling(suppressions=held(tmp_path / "known.abignore", text))).suppressed == ()


BAD = {
    "[suppress_function]\nnam = a": "unknown key 'nam'",
    "[suppress_function]\nhas_data_member = a": "unknown key",
    "[suppress_functions]\nname = a": "unknown section",
    "[allow_type]\nname = a": "not supported",
    "[suppress_type]\nname = a\nhas_data_member_inserted_at = 8": "has_data_member_inserted_at is not supported",
    "[suppress_type]\nname = a\nhas_size_change = yes": "has_size_change is not supported",
    "[suppress_type]\nname = a\naccessed_through = pointer": "'pointer' is not supported",
    "[suppress_type]\nname = a\ntype_kind = array": "'array' is not supported",
    "[suppress_function]\nname = a\nallow_other_aliases = no": "allow_other_aliases is not supported",
    "[suppress_function]\nparameter = int": "parameter: not of the form",
    "[suppress_function]\nname_regexp = (": "name_regexp: regular expression",
    "[suppress_function]\nlabel = nothing": "selects nothing",
    "[suppress_function]\nname =": "name is empty",
    "[suppress_function]\nname = a\nname = b": "given twice",
    "[suppress_function]\nname": "line 2: neither",
    "[suppress_function]\nchange_kind = gone": "'gone' is not supported",
}


@pytest.mark.parametrize("text", BAD)
def test_a_specification_that_cannot_be_honoured_is_refused_by_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(PolicyError) as refused:
        held(tmp_path / "known.abignore", text)
    assert BAD[text] in refused.value.message
    assert "known.abignore: line" in refused.value.message
    assert refused.value.hint


def test_lines_go_on_after_a_backslash_and_comments_end_them(tmp_path: Path) -> None:
    text = "# ours\n[suppress_type]  ; all of it\n  type_kind = enum\n  changed_enumerators = ONE, \\\n    TWO # both\n"
    comparison = compare(
        read(library("")), read(library("enum")), Ruling(suppressions=held(tmp_path / "known.abignore", text))
    )
    assert comparison.suppressed
    assert comparison.suppressed[0].suppressed_by == "known.abignore, line 2 [suppress_type]"
