"""Headers are read in another mode only where a condition asks for it, and walked only where that may differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract import capture
from abistore.extract.headers import clang, subprocess
from abistore.extract.headers.subprocess import encode
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.shapes import HeadersMode
from abistore.model.snapshot import HeadersRead, Snapshot
from abistore.process import Answered
from tests.build import build_library

POINT = "struct point { int x, y; };\n"
WIDE = "struct point { int x, y, z; };\n"
NORM = "int norm(const struct point *p);\n"
LIBRARY = POINT + "int norm(const struct point *p) { return p->x + p->y; }"


def either(condition: str, first: str = WIDE, second: str = POINT) -> str:
    """Text that has the first declaration where a condition holds."""
    return f"{condition}\n{first}#else\n{second}#endif\n"


def snapshot(tmp_path: Path, files: Mapping[str, str]) -> Snapshot:
    """A library with these headers of C."""
    tmp_path.mkdir(exist_ok=True)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return capture.read_snapshot(
        build_library(LIBRARY), ExtractOptions(headers=HeaderOptions((tmp_path,), language="c"))
    )


def modes(read: Snapshot) -> dict[str, HeadersMode]:
    headers = read.provenance.headers
    assert isinstance(headers, HeadersRead)
    return {each.name: each for each in headers.modes}


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (either("#ifdef NDEBUG"), "NDEBUG"),
        (either("#if defined(DEBUG)"), "DEBUG"),
        (either("#ifdef __cplusplus"), "C++"),
        (either("#if defined __cplusplus && __cplusplus > 199711L"), "C++"),
        (either("#ifdef __OPTIMIZE__"), "-O2"),
        (either("#if _FORTIFY_SOURCE > 0"), "_FORTIFY_SOURCE"),
        (either("#ifdef _GNU_SOURCE"), "_GNU_SOURCE"),
        (either("#ifdef _REENTRANT"), "-pthread"),
        (
            "#ifdef NDEBUG\n#define MORE int z;\n#else\n#define MORE\n#endif\nstruct point { int x, y; MORE };\n",
            "NDEBUG",
        ),
        (either("#ifdef NDEBUG", "#define N 3\n", "#define N 2\n") + "struct point { int x[N]; };\n", "NDEBUG"),
        (f"#ifdef NDEBUG\n# pragma pack(1)\n#endif\n{POINT}", "NDEBUG"),
    ],
)
def test_a_mode_that_conditions_ask_for_is_read(tmp_path: Path, text: str, mode: str) -> None:
    found = modes(snapshot(tmp_path, {"foo.h": text + NORM}))
    assert list(found) == [mode]
    assert [each.spelling for each in found[mode].entries] == ["point"]


def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes the texts that are parsed, in this process."""
    texts: list[str] = []
    parse = clang.parsed

    def note(file: str, text: str, *rest: Any, **how: Any) -> clang.TranslationUnit | None:
        texts.append(text)
        return parse(file, text, *rest, **how)

    def here(request: Any) -> Any:
        from abistore.extract.headers.reader import work

        return Answered(encode(work(request)))

    monkeypatch.setattr(clang, "parsed", note)
    monkeypatch.setattr(subprocess, "may_fork", lambda: True)
    monkeypatch.setattr(subprocess, "_asked", here)
    return texts


@pytest.mark.parametrize(
    "text",
    [
        POINT,
        f'#ifdef __cplusplus\nextern "C" {{\n#endif\n{POINT}#ifdef __cplusplus\n}}\n#endif\n',
        f'#ifdef __cplusplus\n# define BEGIN extern "C" {{\n#else\n# define BEGIN\n#endif\nBEGIN\n{POINT}',
        either("#ifdef FOO_WIDE"),
        f"#ifndef FOO_H\n#define FOO_H\n{POINT}#endif\n",
    ],
)
def test_no_header_is_parsed_twice_where_no_condition_asks_for_a_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    texts = parses(monkeypatch)
    closing = "" if "BEGIN" not in text else "#ifdef __cplusplus\n}\n#endif\n"
    assert modes(snapshot(tmp_path, {"foo.h": text + NORM + closing})) == {}
    assert len(texts) == 1


def test_a_header_is_read_alone_only_where_it_asks_for_macros_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = parses(monkeypatch)
    files = {"a.h": "#define A_IN 1\n", "b.h": either("#ifndef A_IN") + NORM, "c.h": "int c(void);\n"}
    found = modes(snapshot(tmp_path, files))
    assert [each.name for each in found.values()] == ["header alone"]
    assert len(texts) == 2
    assert "a.h" not in texts[-1] and "c.h" not in texts[-1]


def test_a_header_that_includes_the_other_one_is_not_read_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = parses(monkeypatch)
    files = {"a.h": "#pragma once\n#define A_IN 1\n", "b.h": '#include "a.h"\n' + either("#ifndef A_IN") + NORM}
    assert modes(snapshot(tmp_path, files)) == {}
    assert len(texts) == 1


def test_a_release_whose_modes_were_not_read_is_not_compared_in_them(tmp_path: Path) -> None:
    from msgspec.structs import replace

    old = snapshot(tmp_path / "old", {"foo.h": POINT + NORM})
    new = snapshot(tmp_path / "new", {"foo.h": either("#ifdef NDEBUG") + NORM})
    assert [each.kind for each in compare(old, new).findings if "mode" in each.kind] == ["mode_changed.declaration"]
    headers = old.provenance.headers
    assert isinstance(headers, HeadersRead)
    former = replace(headers, facts=tuple(each for each in headers.facts if each != "modes"))
    before = replace(old, provenance=replace(old.provenance, headers=former))
    compared = compare(before, new)
    assert [each.kind for each in compared.findings if "mode" in each.kind] == []
    assert any("NDEBUG" in each.detail for each in compared.not_checked)


def test_what_other_compilers_see_is_not_checked(tmp_path: Path) -> None:
    old = snapshot(tmp_path / "old", {"foo.h": POINT + NORM})
    new = snapshot(tmp_path / "new", {"foo.h": either("#if __GNUC__ == 4", POINT, WIDE) + NORM})
    other = snapshot(tmp_path / "other", {"foo.h": either("#if __clang_major__ >= 3", POINT, WIDE) + NORM})
    for one in (new, other):
        told = [each.detail for each in compare(old, one).not_checked if each.reason == "headers-ask-compiler"]
        assert len(told) == 1
    later = either("#if __STDC_VERSION__ > 202000L", WIDE, POINT) + NORM
    assert "headers-ask-compiler" in [
        each.reason for each in compare(old, snapshot(tmp_path / "later", {"foo.h": later})).not_checked
    ]
    assert not [each for each in compare(new, new).not_checked if each.reason == "headers-ask-compiler"]
