"""Mangled names that would become too long are known before they are demangled, and no others are held back."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from abistore.limits import limits
from abistore.model.names.mangled_types import MOST, demangled_length, is_short
from abistore.model.names.qualified import MAX_OUTPUT, demangle, normal_name, runtime_demangler
from abistore.model.names.symbols import with_external_linkage
from tests.bounds import bounded

LIBRARIES = sorted(
    path
    for folder in (Path("/usr/lib"), Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib/aarch64-linux-gnu"))
    for stem in ("libstdc++.so.6", "libLLVM-15.so.1", "libclang-cpp.so.14", "librados.so.2", "libicuuc.so.72")
    for path in folder.glob(stem)
)
MOST_SYMBOLS = 20_000


def digits(number: int) -> str:
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return letters[number] if number < 36 else digits(number // 36) + letters[number % 36]


def pairs(levels: int) -> str:
    """A function each of whose parameters is a pair of the one before: ``_Z1fSt4pairIiiES_IS0_S0_E...``."""
    further = (f"S_IS{digits(level)}_S{digits(level)}_E" for level in range(levels - 1))
    return "_Z1fSt4pairIiiE" + "".join(further)


def repeated(text: str, levels: int) -> str:
    return "".join(text.format(digits(2 * level), digits(2 * level)) for level in range(levels))


BOMBS = {
    "pairs of pairs": pairs(26),
    "pointers to functions of pointers": "_Z1fPFiiiE" + repeated("PFS{}_S{}_E", 40),
    "conversions of conversions": "_Z1f" + "N1AcvT_I" * 40 + "i" + "EE" * 40,
    "conversions without an end": "_Z1f" + "N1AcvT_I" * 40 + "i",
    "arguments of arguments": "_Z1fIi" + "S_IT_T_E" * 3 + "EvT_" + repeated("1BIS{}_S{}_E", 40),
    "a pack of packs": "_Z1fIJ" + "i" * 200 + "EJ" + "i" * 200 + "EEv" + "Dp1AIDp1BIDp1CIT_T0_EEE" * 4,
    "a scope that is none, which GCC 12 reads for ever": "_Z1fIXsr1AC9xEEvv",
    "a name of many letters, repeated": "_ZN" + "5000" + "a" * 5000 + "C1" * 5000 + "E",
}  # fmt: skip


@pytest.mark.parametrize("symbol", BOMBS.values(), ids=BOMBS)
def test_what_would_become_endless_stays_mangled_and_costs_nothing(symbol: str) -> None:
    done = bounded("-c", f"from abistore.model.names.qualified import demangle; print(demangle({symbol!r}))", seconds=5)
    assert (done.code, done.out.strip()) == (0, symbol)


def symbols_of(library: Path) -> list[str]:
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    found = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    return sorted(symbol for symbol in found if symbol.startswith("_Z"))


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.name)
def test_every_name_of_a_real_library_is_demangled_as_the_runtime_does(library: Path) -> None:
    run = runtime_demangler()
    assert run is not None
    symbols = symbols_of(library)
    for symbol in random.Random(library.name).sample(symbols, min(len(symbols), MOST_SYMBOLS)):
        text = run(symbol)
        if text is not None and len(text) <= MAX_OUTPUT:
            assert is_short(symbol), symbol
            assert len(text) <= demangled_length(symbol) < MOST, symbol


PIECES = (
    "S_",
    "S0_",
    "S1_",
    "T_",
    "T0_",
    "St4pairI",
    "IS0_S0_E",
    "IT_T_E",
    "JE",
    "E",
    "N",
    "I",
    "Ut_",
    "Z",
    "sr",
    "PK",
)


def mutated(symbols: list[str], count: int) -> Iterator[str]:
    source = random.Random(count)
    for _ in range(count):
        symbol = source.choice(symbols)[2:]
        for _ in range(source.choice((1, 1, 2, 4))):
            place = source.randrange(len(symbol) + 1)
            end = place + source.choice((0, 0, 1, 2, 8))
            middle = source.choice(
                ("", symbol[place : end + 8] * 2, source.choice(PIECES), source.choice("PRKijSTNIE"))
            )
            symbol = symbol[:place] + middle + symbol[end:]
        yield "_Z" + symbol[:600]


def test_no_damaged_name_becomes_longer_than_was_told(tmp_path: Path) -> None:
    """In a process of its own: a demangler that was not held back would not come back."""
    damaged = [symbol for symbol in mutated(symbols_of(LIBRARIES[0]), 6_000) if is_short(symbol)]
    told = [demangled_length(symbol) for symbol in damaged]
    (tmp_path / "names").write_text("\n".join(damaged))
    done = bounded(
        "-c",
        "import sys; from abistore.model.names.qualified import runtime_demangler; run = runtime_demangler()\n"
        "for name in open(sys.argv[1]).read().split('\\n'): print(len(run(name) or ''))",
        tmp_path / "names",
    )
    assert done.code == 0
    lengths = [int(line) for line in done.out.split()]
    assert len(lengths) == len(damaged) > 3_000
    assert sum(length > 0 for length in lengths) > 500
    wrong = [each for each in zip(lengths, told, damaged, strict=True) if each[0] > min(each[1], MOST)]
    assert not wrong


TEXTS = {
    "operators of operators": "operator " * 7_000,
    "closures without an end": "(lambda at " * 5_000,
    "unnamed types without an end": "(anonymous at " * 4_500,
    "characters without an end": "'a\\" * 20_000,
    "strings without an end": '"\\' * 30_001,
    "tildes": "~" * 60_000,
    "scopes": "a::" * 20_000 + "*",
    "braces": "{" * 60_000,
    "arguments": "A<" * 50 + "a," * 30_000 + "b" + ">" * 50,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_normal_form_of_any_text_is_found_in_no_time(text: str) -> None:
    with limits(5, 1 << 29):
        normal_name(text)


def test_names_that_grow_beyond_what_real_ones_do_are_not_brought_into_normal_form() -> None:
    assert demangle(pairs(6)).endswith(">>>>>>)")
    assert demangle(pairs(10)).endswith("> > > > > > > > >)")


@pytest.mark.parametrize(
    ("symbol", "shared"),
    [
        ("_ZL5limit", "limit"),
        ("_ZN3geoL5limitE", "_ZN3geo5limitE"),
        ("_ZL3foov", "_Z3foov"),
        ("_ZN3geo2inL3fooEi", "_ZN3geo2in3fooEi"),
        ("_ZN3geo5limitE", "_ZN3geo5limitE"),
        ("_ZNK3geo5Limit3getEv", "_ZNK3geo5Limit3getEv"),
        ("limit", "limit"),
    ],
)
def test_what_each_program_has_for_itself_is_called_as_if_all_shared_it(symbol: str, shared: str) -> None:
    assert with_external_linkage(symbol) == shared
