"""Which symbols the dynamic linker finds: what the hash tables of a library lead to."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Set
from typing import Final

import msgspec

from abistore.errors import ExtractError
from abistore.extract.elf.container import ElfFile
from abistore.extract.elf.dynamic import DT_GNU_HASH, DT_HASH, DT_MIPS_XHASH, DynamicSection

WIDE_WORDS: Final = frozenset({22, 0x9026})
"""64-bit s390 and Alpha have 8-byte words in DT_HASH, and there alone."""

_DIGITS: Final = b"0123456789abcdefghijklmnopqrstuvw"
_LOW: Final = bytes(_DIGITS[value % 33] for value in range(256))
_HIGH: Final = bytes(_DIGITS[value // 33] for value in range(256))
_PIECE: Final = 256
"""``int`` takes quadratic time for more digits, and refuses thousands of them."""
_BEGUN: Final = tuple(5381 * pow(33, count, 1 << 32) for count in range(_PIECE + 1))


class Unfound(msgspec.Struct, frozen=True):
    """Symbols, by index, that the dynamic linker does not find: by the table that it uses, or by the other alone."""

    nowhere: Set[int] = frozenset()
    in_one_table: Set[int] = frozenset()


def unfound(dynamic: DynamicSection, names: Mapping[int, bytes]) -> Unfound:
    """The symbols that a hash table does not lead to, of those with the given names by index.

    Linkers use DT_GNU_HASH where it is there (glibc since 2.5, musl, bionic, FreeBSD), and DT_HASH otherwise.
    DT_HASH beside it is read by few, so that its chains are followed and no name is hashed: that would be noticed.
    """
    gnu, elf = dynamic.get(DT_GNU_HASH), dynamic.get(DT_HASH)
    if gnu is not None:
        nowhere = names.keys() - _found_by_gnu_hash(dynamic.elf, gnu, names)
        beside = names.keys() - nowhere
        return Unfound(nowhere, beside - _chains(dynamic.elf, elf).keys() if elf is not None else frozenset())
    if elf is not None:
        return Unfound(names.keys() - _found_by_hash(dynamic.elf, elf, names))
    return Unfound() if DT_MIPS_XHASH in dynamic.values else Unfound(names.keys())


# --- DT_GNU_HASH ------------------------------------------------------------------------------------------------------


def _found_by_gnu_hash(elf: ElfFile, address: int, names: Mapping[int, bytes]) -> set[int]:
    """The symbols that the linker comes to; none where the table is cut off or lies outside the file."""
    try:
        return set(_gnu_found(elf, address, names)) if names else set()
    except ExtractError:
        return set()


def _gnu_found(elf: ElfFile, address: int, names: Mapping[int, bytes]) -> Iterator[int]:
    """Those that the Bloom filter lets pass, and whose hash stands in the chain that their bucket begins."""
    count, first, words, shift = struct.unpack(f"{elf.order}4I", elf.at_address(address, 16))
    filter_bytes, bits = words * elf.bits // 8, elf.bits - 1
    bloom = _words(elf, address + 16, words, "Q" if elf.bits == 64 else "I")
    buckets = _words(elf, address + 16 + filter_bytes, count, "I")
    chained = max(0, max(names) + 1 - first)
    hashes = _words(elf, address + 16 + filter_bytes + 4 * count, chained, "I")
    if not count or not words or words & words - 1:
        return  # linkers take the number of words for a power of two
    begins = _begins(hashes, first)
    for index, name in names.items():
        sought = gnu_hash(name)
        begin = buckets[sought % count]
        if first <= index and begin > 0 and begins[index - first] <= begin <= index:
            passed = bloom[sought // elf.bits & words - 1]
            if (
                passed >> (sought & bits) & passed >> (sought >> shift & bits) & 1
                and hashes[index - first] ^ sought < 2
            ):
                yield index


def _begins(hashes: tuple[int, ...], first: int) -> list[int]:
    """Where the chain of each symbol begins: the lowest bit of a hash ends one."""
    begins, begin = [], first
    for following, each in enumerate(hashes, first + 1):
        begins.append(begin)
        if each & 1:
            begin = following
    return begins


# --- DT_HASH ----------------------------------------------------------------------------------------------------------


def _found_by_hash(elf: ElfFile, address: int, names: Mapping[int, bytes]) -> set[int]:
    """The symbols in the chain that the bucket of their name begins."""
    reached = _chains(elf, address)
    if not reached:
        return set()
    (count,) = _words(elf, address, 1, _word(elf))
    return {index for index, name in names.items() if reached.get(index) == elf_hash(name) % count}


def _chains(elf: ElfFile, address: int) -> dict[int, int]:
    """The symbols that buckets lead to (gABI, "Hash Table"), each with its bucket; none where the table is cut off.

    Where chains meet, the first one counts: linkers write none that do.
    """
    word = _word(elf)
    size = 8 if word == "Q" else 4
    reached: dict[int, int] = {}
    try:
        count, symbols = _words(elf, address, 2, word)
        begins = _words(elf, address + 2 * size, count, word)
        nexts = _words(elf, address + (2 + count) * size, symbols, word)
    except ExtractError:
        return reached
    for bucket, index in enumerate(begins):
        while 0 < index < symbols and index not in reached:
            reached[index] = bucket
            index = nexts[index]
    return reached


def _word(elf: ElfFile) -> str:
    return "Q" if elf.bits == 64 and elf.machine in WIDE_WORDS else "I"


def _words(elf: ElfFile, address: int, count: int, word: str) -> tuple[int, ...]:
    data = elf.at_address(address, count * (8 if word == "Q" else 4)) if count else b""
    return struct.unpack(f"{elf.order}{count if data else 0}{word}", data)


# --- hashes -----------------------------------------------------------------------------------------------------------


def gnu_hash(name: bytes) -> int:
    """The hash of DT_GNU_HASH: from 5381 on, 33 times the hash so far and the next byte, in 32 bits.

    That is a number with the bytes as its digits to the base of 33, which ``int`` reads ten times as fast as a loop: a
    byte is worth a digit, and a second one 33 times.
    """
    if len(name) <= _PIECE:
        digits = int(name.translate(_LOW) or b"0", 33) + 33 * int(name.translate(_HIGH) or b"0", 33)
        return (_BEGUN[len(name)] + digits) & 0xFFFFFFFF
    found = 5381
    for begin in range(0, len(name), _PIECE):
        piece = name[begin : begin + _PIECE]
        found = ((found - 5381) * pow(33, len(piece), 1 << 32) + gnu_hash(piece)) & 0xFFFFFFFF
    return found


def elf_hash(name: bytes) -> int:
    """The hash of DT_HASH and of symbol versions (gABI, "Hash Table")."""
    found = 0
    for byte in name:
        found = (found << 4) + byte
        found = (found ^ found >> 24 & 0xF0) & 0x0FFFFFFF
    return found
