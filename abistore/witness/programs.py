"""The texts of witnesses, and the facts that a compiler put into their object files."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from abistore.extract.elf.container import ElfFile
from abistore.model.names.symbols import file_local
from abistore.witness.uses import Fact

INCLUDED: Final = {True: ("<stddef.h>", "<stdio.h>", "<string.h>"), False: ("<cstddef>", "<cstdio>", "<cstring>")}

NUMBERS: Final = "facts"
"""The array of all facts that are numbers."""


def layout_program(headers: Iterable[str], facts: Sequence[Fact], *, c: bool) -> str:
    """A program that prints what it was compiled with."""
    numbers = [each for each in facts if each.sort == "number"]
    lines = [f"#include {each}" for each in INCLUDED[c]]
    lines += [*(f'#include "{each}"' for each in headers), ""]
    if numbers:
        lines += [f"static const long long {NUMBERS}[] = {{"]
        lines += [f"    {each.expression}," for each in numbers]
        lines.append("};")
    lines += [_object(number, each) for number, each in enumerate(facts) if each.sort != "number"]
    lines += ["", f"int main({'void' if c else ''}) {{"]
    lines += [f"    {line}" for line in _printing(facts)]
    lines += ["    return 0;", "}"]
    return "".join(f"{line}\n" for line in lines)


def symbol_of(number: int, fact: Fact) -> str:
    """The object that holds a fact which is no number: ``slot3``, ``bytes4``."""
    return f"{fact.sort}{number}"


def _object(number: int, fact: Fact) -> str:
    symbol = symbol_of(number, fact)
    if fact.sort == "slot":
        return f"static const auto {symbol} = {fact.expression};"
    if fact.type == "char []":
        return f"static const char {symbol}[] = {fact.expression};"
    return f"static const {fact.type} {symbol} = {fact.expression};"


def _printing(facts: Sequence[Fact]) -> Iterator[str]:
    place = 0
    for number, each in enumerate(facts):
        label, symbol = _quoted(each.label), symbol_of(number, each)
        if each.sort == "number":
            yield f'printf("{label} = %lld\\n", {NUMBERS}[{place}]);'
            place += 1
        elif each.sort == "slot":
            yield f"long {symbol}_place;"
            yield f"memcpy(&{symbol}_place, &{symbol}, sizeof {symbol}_place);"
            yield f'printf("{label} = %ld\\n", {symbol}_place / (long)sizeof(void *));'
        elif each.type == "char []":
            yield f'printf("{label} = %s\\n", {symbol});'
        else:
            yield f'printf("{label} =");'
            yield f"for (size_t i = 0; i < sizeof {symbol}; i++)"
            yield f'    printf(" %02x", ((const unsigned char *)&{symbol})[i]);'
            yield 'printf("\\n");'


def values(object_file: Path, facts: Sequence[Fact]) -> dict[str, object]:
    """The facts that an object file holds, by their labels: nothing of it is started."""
    elf = ElfFile(object_file)

    def contents(symbol: str) -> bytes:
        endings = (f".{symbol}", f".{file_local(symbol)}")
        section = next((each for each in elf.sections if each.name.endswith(endings)), None)
        return elf.contents(section) if section else b""

    data = contents(NUMBERS)
    numbers = iter(struct.unpack_from(f"{'<' if elf.little else '>'}{len(data) // 8}q", data))
    return {
        each.label: next(numbers, None)
        if each.sort == "number"
        else _value(contents(symbol_of(place, each)), each, elf)
        for place, each in enumerate(facts)
    }


def _value(data: bytes, fact: Fact, elf: ElfFile) -> object:
    if fact.sort == "slot":
        size = elf.bits // 8
        return int.from_bytes(data[:size], "little" if elf.little else "big") // size
    if fact.type == "char []":
        return data.rstrip(b"\0").decode(errors="replace")
    return data.hex(" ")


def using_program(headers: Iterable[str], code: str, *, c: bool) -> str:
    """A program that names a declaration; it does nothing else."""
    lines = [
        *(f'#include "{each}"' for each in headers),
        "",
        code,
        "",
        f"int main({'void' if c else ''}) {{ return 0; }}",
    ]
    return "\n".join(lines).lstrip("\n") + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def lines_with(program: str, words: Iterable[str]) -> tuple[int, ...]:
    """The numbers of the lines that have one of the words, counted from 1."""
    wanted = [each for each in words if each]
    return tuple(number for number, line in enumerate(program.splitlines(), 1) if any(each in line for each in wanted))
