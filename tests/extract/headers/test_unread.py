"""Errors in the bodies of C functions lose no declaration, and every word of such a function may be a use."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.extract.headers import clang
from abistore.extract.headers.faults import unread_words
from abistore.model.words import matcher

ERR = "_intrinsic_of_another_compiler()"


def words(folder: Path, text: str, *arguments: str) -> frozenset[str] | None:
    """What functions with errors in a header may use."""
    (folder / "lib.h").write_text(text)
    unit = clang.parsed("lib.c", f'#include "{folder}/lib.h"\n', ["-xc", "-std=gnu17", "-w", *arguments], {})
    assert unit is not None
    assert list(clang.errors(unit))
    return unread_words(unit, clang.errors(unit))


def may_use(folder: Path, name: str, text: str, *arguments: str) -> bool:
    found = words(folder, text, *arguments)
    assert found is not None
    return matcher(found)(name)


def test_every_word_of_a_body_with_an_error_may_be_a_use(tmp_path: Path) -> None:
    text = (
        f"static inline int f(void) {{ return {ERR} + called(); }}\nint g(void);\nstatic int h(void) {{ return k(); }}"
    )
    assert may_use(tmp_path, "called", text)
    assert may_use(tmp_path, "k", text)
    assert not may_use(tmp_path, "g", text)


def test_a_body_without_errors_gives_none(tmp_path: Path) -> None:
    text = f"int called(void);\nstatic int f(void) {{ return {ERR}; }}\nstatic int g(void) {{ return called(); }}\n"
    assert not may_use(tmp_path, "called", text)


@pytest.mark.parametrize(
    "macros",
    [
        "#define M called()",
        "#define M INNER(1)\n#define INNER(x) called(x)",
        "#define M 1\n#undef M\n#define M called()",
        "#define M (called)",
    ],
)
def test_what_macros_write_in_it_may_be_a_use(tmp_path: Path, macros: str) -> None:
    assert may_use(tmp_path, "called", f"{macros}\nstatic int f(void) {{ return {ERR} + M; }}\n")


def test_a_macro_of_the_command_line_is_followed(tmp_path: Path) -> None:
    text = f"static int f(void) {{ return {ERR} + M; }}\n"
    assert may_use(tmp_path, "called", text, "-DM=INNER()", "-DINNER()=called()")


def test_a_name_that_a_macro_pastes_together_has_a_wildcard_for_each_argument(tmp_path: Path) -> None:
    text = f"#define CALL(what) lib_##what##_of\nstatic int f(void) {{ return {ERR} + CALL(low)(); }}\n"
    found = words(tmp_path, text)
    assert found is not None
    assert "lib_*_of" in found
    assert not may_use(tmp_path, "lib_low", text)


def test_a_pasted_name_may_be_that_of_a_macro(tmp_path: Path) -> None:
    text = f"#define DO_it called()\n#define DO(what) DO_##what\nstatic int f(void) {{ return {ERR} + DO(it); }}\n"
    assert may_use(tmp_path, "called", text)


def test_a_variadic_macro_that_drops_a_comma_pastes_no_name(tmp_path: Path) -> None:
    text = f"#define CALL(f, ...) f(1, ##__VA_ARGS__)\nstatic int f(void) {{ return {ERR} + CALL(called); }}\n"
    assert may_use(tmp_path, "called", text)


def test_a_name_pasted_of_arguments_alone_may_be_any(tmp_path: Path) -> None:
    text = f"#define CAT(a, b) a##b\nstatic int f(void) {{ return {ERR} + CAT(call, ed)(); }}\n"
    assert words(tmp_path, text) is None


@pytest.mark.parametrize(
    "text",
    [
        f"#define FUNCTION(name) static inline int name(void) {{ return {ERR} + called(); }}\nFUNCTION(f)\n",
        f"#define PASSED(...) static inline __VA_ARGS__\nPASSED(int f(void) {{\n return {ERR} + called();\n }})\n",
        f"#define BEGIN {{\n#define END }}\nstatic int f(void) BEGIN called(); return {ERR}; END\n",
        f"#define LAST {ERR}; called(); }}\nstatic int f(void) {{ return 1; LAST\n",
    ],
)
def test_a_function_that_macros_write_is_found(tmp_path: Path, text: str) -> None:
    assert may_use(tmp_path, "called", text)


def test_a_string_may_be_the_symbol_of_a_declaration(tmp_path: Path) -> None:
    text = f'static int f(void) {{ extern int g(void) __asm__("called"); return {ERR} + g(); }}\n'
    assert may_use(tmp_path, "called", text)


def test_a_function_that_is_linked_by_another_name_is_used_by_that(tmp_path: Path) -> None:
    text = f'int g(void) __asm__("called");\nstatic int f(void) {{ return {ERR} + g(); }}\n'
    assert may_use(tmp_path, "called", text)


def test_a_word_may_be_written_over_two_lines(tmp_path: Path) -> None:
    assert may_use(tmp_path, "called", f"static int f(void) {{ return {ERR} + cal\\\nled(); }}\n")


@pytest.mark.parametrize(
    "text",
    [
        "int f(_no_type x);\n",
        "#error no\nint f(void);\n",
        "struct s { _no_type x; };\n",
        "#include <nowhere.h>\n",
        "static int f(void) {\n#include <nowhere.h>\n return 1; }\n",
        "static int f(void) { if (1) { return 1; }\nint g(void);\nstatic int h(void) { return 1; }\n",
        f"int a[{ERR}];\nint f(void);\n",
        "#define VARIABLE(type) type v;\nVARIABLE(_no_type)\n",
    ],
)
def test_an_error_outside_of_bodies_may_lose_declarations(tmp_path: Path, text: str) -> None:
    assert words(tmp_path, text) is None


def test_a_file_that_a_body_includes_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "part.inc").write_text("called();\n")
    assert words(tmp_path, f'static int f(void) {{\n#include "part.inc"\nreturn {ERR}; }}\n') is None
