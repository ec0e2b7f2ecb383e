"""Regular expressions mean the same on every Python that the package promises to run on.

Debian 12's Python 3.11.2 never matches ``(?:(?!\\0\\0)..)*+\\0\\0`` against two zeros, nor others that are possessive.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from re import _constants as opcodes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

pytestmark = pytest.mark.fast

PROJECT = Path(__file__).parents[2]
FOLDERS = ("abistore", "benchmarks", "docs", "examples", "migrations", "tests")
FUNCTIONS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
UNKNOWN = "x"
"""What a part that only a run knows is replaced by."""

Names = Mapping[str, ast.expr]


@cache
def module(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def names(path: Path) -> dict[str, ast.expr]:
    """What a module assigns to its own names, or imports from modules of this project."""
    found: dict[str, ast.expr] = {}
    for node in module(path).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
            case ast.ImportFrom(module=str(source)) if (other := PROJECT / f"{source.replace('.', '/')}.py").exists():
                found.update(
                    {each.asname or each.name: names(other).get(each.name, each_name(each)) for each in node.names}
                )
    return found


def each_name(imported: ast.alias) -> ast.expr:
    return ast.Name(id=f"imported {imported.name}")


def text(node: ast.expr, known: Names) -> str | None:
    """The text, or the bytes as text, that an expression gives; ``None`` for one that only a run knows."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.Constant(value=bytes(value)):
            return value.decode("latin-1")
        case ast.Name(id=name) if name in known:
            return text(known[name], known)
        case ast.FormattedValue(value=value):
            return text(value, known) or UNKNOWN
        case ast.JoinedStr(values=parts):
            return "".join(text(part, known) or "" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = text(left, known), text(right, known)
            return None if sides == (None, None) else "".join(UNKNOWN if side is None else side for side in sides)
    return None


def arguments(path: Path) -> Iterator[tuple[int, str, int]]:
    """Line, text and flags of what is given to functions that take a pattern."""
    for node in ast.walk(module(path)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re" | "re2"), attr=name), args=[first, *others]):
                pass
            case ast.Call(func=ast.Name(id="pattern" as name), args=[first, *others]):
                pass
            case _:
                continue
        written = text(first, names(path))
        if (name == "pattern" or name in FUNCTIONS) and written is not None:
            flags = ast.unparse(ast.Tuple(elts=[*others, *(each.value for each in node.keywords)]))
            yield node.lineno, written, re.VERBOSE if "VERBOSE" in flags else 0


def constants(path: Path) -> Iterator[tuple[int, str]]:
    """Every other text of a module, which may become a pattern."""
    for node in ast.walk(module(path)):
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and (found := text(node, names(path))):
            yield node.lineno, found


def refused(parsed: Any, *, prose: bool = False) -> bool:
    """Whether a part of a pattern is possessive or atomic. In ``prose`` the language C++ is none."""
    for operation, operand in parsed:
        if operation is opcodes.ATOMIC_GROUP:
            return True
        if operation is opcodes.POSSESSIVE_REPEAT and not (prose and is_letter(operand[2])):
            return True
        if any(refused(inner, prose=prose) for inner in inside(operand)):
            return True
    return False


def is_letter(repeated: Any) -> bool:
    ((operation, operand),) = repeated if len(repeated) == 1 else ((None, 0),)
    return operation is opcodes.LITERAL and chr(operand).isalpha()


def inside(operand: Any) -> Iterator[Any]:
    """The patterns that an operand holds, at whatever depth of tuples and lists."""
    if isinstance(operand, parser.SubPattern):
        yield operand
    elif isinstance(operand, tuple | list):
        yield from chain.from_iterable(map(inside, operand))


def in_prose(written: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            return refused(parser.parse(written), prose=True)
    except (re.error, OverflowError, RecursionError):
        return False  # no pattern, or a part of one, which is read where it is put together


def sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.py") if path != Path(__file__))


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_pattern_is_possessive_or_atomic(folder: str) -> None:
    found = []
    for path in sources():
        if path.relative_to(PROJECT).parts[0] == folder:
            lines = {line for line, written, flags in arguments(path) if refused(parser.parse(written, flags))}
            if folder == "abistore":  # others hold sources of C, which resemble patterns
                lines |= {line for line, written in constants(path) if in_prose(written)}
            found += [f"{path.relative_to(PROJECT)}:{line}" for line in sorted(lines)]
    assert found == []


def test_patterns_of_the_package_are_read() -> None:
    read = [each for path in sources() if path.is_relative_to(PROJECT / "abistore") for each in arguments(path)]
    assert len(read) > 100


@pytest.mark.parametrize("written", ["a*+", "(?:ab)++", "[ab]?+", "a{2,3}+", "(?>ab)", "(c|(?=d*+))", "(?(1)a*+|b)()"])
def test_what_is_possessive_or_atomic_is_seen(tmp_path: Path, written: str) -> None:
    (tmp_path / "module.py").write_text(f"import re\nSTART = r'{written}'\nre.search(rf'{{START}}b', '')\n")
    ((_, found, flags),) = arguments(tmp_path / "module.py")
    assert found == f"{written}b"
    assert refused(parser.parse(written, flags))


@pytest.mark.parametrize("written", [r"a\*+", "[*]+", "a*?b+?", "(?:a+)+", "(?=a)(?!b)(?<=c)d{2}"])
def test_what_only_resembles_it_is_no_defect(written: str) -> None:
    assert not refused(parser.parse(written))
