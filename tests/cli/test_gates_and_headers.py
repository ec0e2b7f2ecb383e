"""Gates beside headers that were read so that less of them is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call, Done

HEADER = "int norm(int);\n#ifndef LESS\n#define SIZE 10\nint more(int);\n#endif\n"
OTHER = "int other(int);\n"
SOURCE = "int norm(int x) { return x; } int more(int x) { return x; } int other(int x) { return x; }"


def library(tmp_path: Path, abistore: Call, header: str = HEADER) -> tuple[Path, Path]:
    """A library whose baseline was read with a folder of two headers, and that folder as it is now."""
    built = build_library(SOURCE, flags=("-g",))
    include = tmp_path / "include"
    include.mkdir()
    (include / "api.h").write_text(HEADER)
    (include / "other.h").write_text(OTHER)
    done = abistore("ingest", built, "--library", "libcase", "--version", "1.0", "--header", include, "--set-baseline")
    assert done.code == 0, done.err
    (include / "api.h").write_text(header)
    return build_library(f"{SOURCE} int newer;", flags=("-g",)), include


HIDING = [("--private-header", "api.h"), ("--define", "LESS")]


@pytest.mark.parametrize("words", HIDING)
@pytest.mark.parametrize("header", [HEADER, HEADER.replace("10", "20"), OTHER])
def test_a_gate_needs_what_headers_hide_that_the_release_showed(
    abistore: Call, tmp_path: Path, words: tuple[str, str], header: str
) -> None:
    new, include = library(tmp_path, abistore, header)
    done = abistore("gate", new, "--library", "libcase", "--version", "1.1", "--header", include, *words)
    assert done.code in (2, 72), done.out
    assert "passes" not in done.out.splitlines()[0]


def test_other_options_that_hide_nothing_pass(abistore: Call, tmp_path: Path) -> None:
    new, include = library(tmp_path, abistore)
    words = ("--library", "libcase", "--version", "1.1", "--header", include, "--define", "UNUSED")
    done = abistore("gate", new, *words)
    assert done.code == 0, done.out


def test_what_is_hidden_passes_only_where_that_is_said(abistore: Call, tmp_path: Path) -> None:
    new, include = library(tmp_path, abistore)
    words = ("--library", "libcase", "--version", "1.1", "--header", include, "--define", "LESS")
    done = abistore("gate", new, *words)
    assert done.code == 72
    assert "declarations of only one side are not reported" in done.err
    assert abistore("gate", new, *words, "--require", "symbol,layout").code == 0


CHOSEN = "#ifdef FORMER\n#define SIZE 10\n#else\n#define SIZE 20\n#endif\n"
"""The break is there, and one macro shows what was before it."""

CHOOSING = [
    ("--define", "FORMER"),
    ("--clang-arg", "-DFORMER"),
    ("--clang-arg", "-DFORMER=/x"),
    ("--clang-arg", "-imacros", "--clang-arg", "FOLDER/former.h"),
]


@pytest.mark.parametrize("words", CHOOSING)
def test_a_gate_needs_headers_that_are_read_as_those_of_the_release_were(
    abistore: Call, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """A macro that headers ask for may hide what broke behind a declaration of the same name."""
    (tmp_path / "former.h").write_text("#define FORMER\n")
    new, include = library(tmp_path, abistore, HEADER.replace("#define SIZE 10\n", CHOSEN))
    asked = ("gate", new, "--library", "libcase", "--version", "1.1", "--header", include)
    assert abistore(*asked).code == 2
    done = abistore(*asked, *(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert (done.code, "the headers were read with " in done.err) == (72, True)


def test_a_macro_that_no_condition_asks_for_hides_nothing(abistore: Call, tmp_path: Path) -> None:
    """What is gone is told as gone, and nothing is left unchecked."""
    header = HEADER.replace("int norm(int);", "CASE_API int norm(int);").replace("int more(int);", "")
    new, include = library(tmp_path, abistore, header)
    asked = ("gate", new, "--library", "libcase", "--version", "1.1", "--header", include)
    done = abistore(*asked, "--define", "CASE_API=", "--define", "UNUSED", "--json")
    (file,) = done.json["files"]
    report = file["judged"]["verdict"]
    assert (done.code, [one["reason"] for one in report["not_checked"] if one["facet"] == "source"]) == (2, [])
    kinds = {one["kind"]: one["symbol"] for one in report["changes"]}
    assert "more" in kinds.values()


BROKEN = "#error not by itself\n"


@pytest.mark.parametrize(
    ("api", "other", "code"),
    [
        (HEADER.replace("#define SIZE 10\n", ""), BROKEN, 72),
        (BROKEN + HEADER.replace("10", "20"), OTHER, 72),
        (HEADER.replace("10", "20"), BROKEN, 2),
        (HEADER, BROKEN, 0),
    ],
)
def test_a_header_that_never_parsed_hides_nothing_of_the_others(
    abistore: Call, tmp_path: Path, api: str, other: str, code: int
) -> None:
    """Headers that were read in part on both sides may lack different ones."""
    include = tmp_path / "include"
    include.mkdir()

    def write(api: str, other: str) -> None:
        (include / "api.h").write_text(api)
        (include / "other.h").write_text(other)
        (include / "third.h").write_text("int third;\n")

    write(HEADER, BROKEN)
    words = ("--library", "libcase", "--header", include)
    built = build_library(SOURCE, flags=("-g",))
    assert abistore("ingest", built, *words, "--version", "1.0", "--set-baseline").code == 0
    write(api, other)
    done = abistore("gate", build_library(f"{SOURCE} int newer;", flags=("-g",)), *words, "--version", "1.1")
    assert done.code == code, done.out + done.err


# --- read with other folders, other standards, another order ----------------------------------------------------------

CHOICE = "int norm(int);\n#if WIDE > 1\n#define SIZE 10\n#else\n#define SIZE 20\n#endif\n"
CONFIGURED = f'#include "config.h"\n{CHOICE}'
PLAIN = f"#ifndef WIDE\n#define WIDE 0\n#endif\n{CHOICE}"


def folder(tmp_path: Path, name: str, **files: str) -> Path:
    """A folder of headers: ``config="..."`` is its ``config.h``."""
    made = tmp_path / name
    made.mkdir()
    for file, text in files.items():
        (made / f"{file}.h").write_text(text)
    return made


def exchanged(header: str) -> str:
    """A header in which the other choice now says what this one said."""
    return header.replace("10", "?").replace("20", "10").replace("?", "20")


def gated(
    abistore: Call, include: Path, header: str, first: tuple[str | Path, ...], then: tuple[str | Path, ...]
) -> Done:
    """The gate's answer about a header that did not change but for ``header``, read with other words than before."""
    words = ("--library", "libcase", "--header", include)
    built = build_library(SOURCE, flags=("-g",))
    done = abistore("ingest", built, *words, "--version", "1.0", *first, "--set-baseline")
    assert done.code == 0, done.err
    (include / "api.h").write_text(header)
    return abistore("gate", build_library(f"{SOURCE} int newer;", flags=("-g",)), *words, "--version", "1.1", *then)


def test_a_gate_needs_folders_in_which_headers_choose_as_for_the_release(abistore: Call, tmp_path: Path) -> None:
    """The same text, of which the other folder's macro shows another part."""
    include = folder(tmp_path, "include", api=CONFIGURED)
    wide, narrow = (folder(tmp_path, f"w{each}", config=f"#define WIDE {each}\n") for each in (2, 1))
    swapped = exchanged(CONFIGURED)
    done = gated(abistore, include, swapped, ("--include-dir", wide), ("--include-dir", narrow))
    assert (done.code, "`#if WIDE > 1` in api.h holds for the old side, with WIDE=2 there" in done.err) == (72, True)


def test_a_folder_whose_macros_change_and_choose_alike_is_no_matter(abistore: Call, tmp_path: Path) -> None:
    include = folder(tmp_path, "include", api=CONFIGURED)
    first, then = (folder(tmp_path, f"w{each}", config=f"#define WIDE {each}\n#define OTHER\n") for each in (2, 3))
    assert gated(abistore, include, CONFIGURED, ("--include-dir", first), ("--include-dir", then)).code == 0


def test_a_new_condition_on_a_macro_of_another_folder_is_told(abistore: Call, tmp_path: Path) -> None:
    include = folder(tmp_path, "include", api='#include "config.h"\nint norm(int);\n#define SIZE 10\n')
    plain, former = folder(tmp_path, "plain", config=""), folder(tmp_path, "former", config="#define FORMER\n")
    done = gated(
        abistore,
        include,
        f'#include "config.h"\nint norm(int);\n{CHOSEN}',
        ("--include-dir", plain),
        ("--include-dir", former),
    )
    assert (done.code, "`#ifdef FORMER` in api.h holds for the new side" in done.err) == (72, True)


def test_the_order_of_definitions_is_part_of_how_headers_are_read(abistore: Call, tmp_path: Path) -> None:
    include = folder(tmp_path, "include", api=PLAIN)
    swapped = exchanged(PLAIN)
    done = gated(
        abistore,
        include,
        swapped,
        ("--define", "WIDE=1", "--define", "WIDE=2"),
        ("--define", "WIDE=2", "--define", "WIDE=1"),
    )
    assert done.code == 72


def test_a_macro_that_compile_commands_take_back_chooses(abistore: Call, tmp_path: Path) -> None:
    header = "int norm(int);\n#ifdef __linux__\n#define SIZE 10\n#else\n#define SIZE 20\n#endif\n"
    include = folder(tmp_path, "include", api=header)
    commands = tmp_path / "compile_commands.json"
    commands.write_text(json.dumps([{"directory": str(tmp_path), "file": "a.c", "command": "cc -U__linux__ a.c"}]))
    swapped = exchanged(header)
    done = gated(abistore, include, swapped, (), ("--compile-commands", commands))
    assert (done.code, "`#ifdef __linux__` in api.h holds for the old side" in done.err) == (72, True)


@pytest.mark.parametrize("asked", [True, False])
def test_a_standard_that_chooses_otherwise_is_told(abistore: Call, tmp_path: Path, asked: bool) -> None:
    """Also where only the new headers ask for it."""
    chosen = "#if __STDC_VERSION__ > 201200L\n#define SIZE 20\n#else\n#define SIZE 10\n#endif\n"
    include = folder(tmp_path, "include", api=f"int norm(int);\n{chosen if asked else '#define SIZE 20'}\n")
    swapped = chosen.replace("20\n", "x\n").replace("10\n", "20\n").replace("x\n", "10\n")
    done = gated(abistore, include, f"int norm(int);\n{swapped}", ("--std", "c17"), ("--std", "c11"))
    assert done.code == 72, done.out


def test_a_standard_for_which_headers_choose_alike_is_no_matter(abistore: Call, tmp_path: Path) -> None:
    header = "int norm(int);\n#if __STDC_VERSION__ > 199900L\n#define SIZE 20\n#endif\n"
    include = folder(tmp_path, "include", api=header)
    assert gated(abistore, include, header, ("--std", "c17"), ("--std", "c11")).code == 0


def test_another_language_that_chooses_otherwise_is_told(abistore: Call, tmp_path: Path) -> None:
    header = "int norm(int);\n#ifdef __cplusplus\n#define SIZE 10\n#else\n#define SIZE 20\n#endif\n"
    include = folder(
        tmp_path, "include", api=f'#ifdef __cplusplus\nextern "C" {{\n#endif\n{header}#ifdef __cplusplus\n}}\n#endif\n'
    )
    swapped = exchanged((include / "api.h").read_text())
    done = gated(abistore, include, swapped, ("--language", "c"), ("--language", "c++"))
    assert done.code == 72, done.out


@pytest.mark.parametrize(
    "header",
    [
        "#define VERSION 2\n#if VERSION > 1\nint more(int);\n#endif\nint norm(int);\n#define SIZE 10\n",
        "#define MAJOR 2\n#if MAJOR > 1 && !defined(OFF)\nint norm(int);\n#else\nint norm(int);\n#endif\n",
        "#ifdef SOON\nint norm(long);\n#else\nint norm(int);\n#endif\n#if __has_include(<stdio.h>)\n#endif\n",
    ],
)
def test_macros_of_the_library_itself_may_change_with_a_release(abistore: Call, tmp_path: Path, header: str) -> None:
    old = header.replace("VERSION 2", "VERSION 1").replace("MAJOR 2", "MAJOR 1").replace("SOON", "LATER")
    include = folder(tmp_path, "include", api=old, other=OTHER)
    done = gated(abistore, include, header, (), ())
    assert done.code == 0, done.out + done.err


def test_a_header_with_a_condition_that_chose_otherwise_takes_nothing_away(abistore: Call, tmp_path: Path) -> None:
    """What it hides is not gone; what another header had is."""
    include = folder(
        tmp_path, "include", api=CONFIGURED.replace("#define SIZE 20\n", ""), other=f"#define LIMIT 4\n{OTHER}"
    )
    wide, narrow = (folder(tmp_path, f"w{each}", config=f"#define WIDE {each}\n") for each in (2, 1))
    words = ("--library", "libcase", "--header", include)
    built = build_library(SOURCE, flags=("-g",))
    done = abistore("ingest", built, *words, "--version", "1.0", "--include-dir", wide)
    assert done.code == 0, done.err
    (include / "other.h").write_text(OTHER)
    done = abistore("compare", "libcase@1.0", built, "--header", include, "--include-dir", narrow, "--json")
    assert {each["symbol"] for each in done.json["changes"]} == {"LIMIT"}
    (unseen,) = (each for each in done.json["not_checked"] if each["reason"] == "headers-selected-differently")
    assert unseen["names"] == ["SIZE"]


def boxes(tmp_path: Path, name: str, box: str) -> Path:
    return folder(tmp_path, name, api=f"template <class T> {box}\nint norm(const Box<int> *);\n")


BOX = "struct Box { T one; };"
UNMADE = 'struct Box { static_assert(sizeof(T) > 9, "made elsewhere"); T none, one; };'


@pytest.mark.parametrize("words", [(), ("--require", "source"), ("--require", "old"), ("--require", "symbol,source")])
def test_instances_that_headers_no_longer_lay_out_pass_no_gate(
    abistore: Call, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Nothing else tells the layout in a stripped library: it may have changed with the code that cannot be made."""
    source = "template <class T> struct Box; int norm(const Box<int> *) { return 1; }"
    built = build_library(source, language="c++", flags=("-O1",))
    asked = ("--library", "libcase", "--header")
    first = abistore("ingest", built, *asked, boxes(tmp_path, "old", BOX), "--version", "1.0", "--set-baseline")
    assert first.code == 0, first.err
    done = abistore("gate", built, *asked, boxes(tmp_path, "new", UNMADE), "--version", "1.1", *words)
    assert (done.code, "1 template instance has no layout in headers" in done.out + done.err) == (72, True), done
    assert abistore("gate", built, *asked, tmp_path / "old", "--version", "1.1", *words).code == 0
    said = ("gate", built, *asked, tmp_path / "new", "--version", "1.1", "--require", "symbol")
    assert abistore(*said).code == 0


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--require", "source"), 72), (("--require", "layout"), 0)])
def test_headers_that_are_not_those_of_the_build_are_no_evidence_of_the_source(
    abistore: Call, tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    """Debug information is believed: what only headers tell of such a type is that of another library."""
    own = "struct point { int x, y; };\nint norm(const struct point *p);\n"
    built = build_library(own + "int norm(const struct point *p) { return p->x; }")
    asked = ("--library", "libcase", "--header", folder(tmp_path, "other", api=own.replace("y;", "y, z;")))
    assert abistore("ingest", built, *asked, "--version", "1.0", "--set-baseline").code == 0
    done = abistore("gate", built, *asked, "--version", "1.1", *words)
    assert done.code == code, done.out + done.err
    assert code == 0 or "headers and debug information disagree about 1 type" in done.err + done.out
