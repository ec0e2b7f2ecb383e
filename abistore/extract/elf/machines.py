"""Machine names, hash tables, symbol versions and hardening of an ELF file."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from typing import Final

import msgspec

from abistore.errors import ExtractError
from abistore.extract.elf.container import (
    DT_GNU_HASH,
    DT_HASH,
    DT_MIPS_XHASH,
    DT_VERDEF,
    DT_VERDEFNUM,
    DT_VERNEED,
    DT_VERNEEDNUM,
    PT_LOAD,
    DynamicSection,
    ElfFile,
    properties,
)
from abistore.extract.files import text_at
from abistore.model.snapshot import Target
from abistore.model.words import (
    BIND_NOW,
    EXECUTABLE_STACK,
    FORTIFY,
    FULL_RELRO,
    PARTIAL_RELRO,
    STACK_CANARY,
    TEXT_RELOCATIONS,
    WRITABLE_CODE,
)
from abistore.patterns import pattern

EM_ARM, EM_PPC64, EM_X86_64, EM_AARCH64, EM_RISCV, EM_LOONGARCH, EM_MIPS = 40, 21, 62, 183, 243, 258, 8

COPYING: Mapping[int, int] = {
    **{EM_X86_64: 5, 3: 5, EM_AARCH64: 1024, EM_ARM: 20, EM_RISCV: 4, EM_LOONGARCH: 4, EM_MIPS: 126},
    **{EM_PPC64: 19, 20: 19, 22: 9, 2: 19, 18: 19, 43: 19, 4: 19},
}
"""The relocation by which a program gets a copy of a library's data (``R_X86_64_COPY``), by machine."""

_NAMES = {
    2: "sparc",
    3: "i386",
    4: "m68k",
    15: "hppa",
    18: "sparc32plus",
    20: "ppc",
    36: "v850",
    42: "sh",
    43: "sparc64",
    50: "ia64",
    75: "vax",
    92: "or1k",
    93: "arc",
    94: "xtensa",
    106: "blackfin",
    113: "nios2",
    164: "hexagon",
    189: "microblaze",
    195: "arcv2",
    224: "amdgpu",
    247: "bpf",
    252: "csky",
    0x9026: "alpha",
}
"""Machines whose ELF header says nothing more about the ABI (registered numbers of the gABI)."""

_OS_ABIS = {
    0: "sysv",
    1: "hpux",
    2: "netbsd",
    3: "sysv",
    6: "solaris",
    7: "aix",
    9: "freebsd",
    12: "openbsd",
    97: "arm",
}
"""3 (GNU) only says that IFUNC or unique symbols occur: it is the same ABI as 0."""


def target_of(elf: ElfFile) -> Target:
    """The platform that ``elf`` is for."""
    return Target(
        format="elf",
        machine=_machine(elf),
        bits=elf.bits,
        endianness="little" if elf.little else "big",
        os_abi=_OS_ABIS.get(elf.os_abi, f"os-{elf.os_abi}"),
    )


def _machine(elf: ElfFile) -> str:
    special = _SPECIAL.get(elf.machine)
    if special is not None:
        return special(elf)
    return _NAMES.get(elf.machine, f"machine-{elf.machine}")


def _arm(elf: ElfFile) -> str:
    """EF_ARM_EABIMASK and the float flags of EABI version 5 ("ELF for the Arm Architecture")."""
    if not elf.flags & 0xFF000000:
        return "arm-oabi"
    return "armhf" if elf.flags & 0x400 else "arm"


def _riscv(elf: ElfFile) -> str:
    """EF_RISCV_FLOAT_ABI and EF_RISCV_RVE (RISC-V ELF psABI); the double-float ABI has the plain name."""
    floats = ("-softfloat", "-singlefloat", "", "-quadfloat")[elf.flags >> 1 & 3]
    return f"riscv{elf.bits}{floats}{'-rve' if elf.flags & 8 else ''}"


def _ppc64(elf: ElfFile) -> str:
    """EF_PPC64_ABI: ELFv2 is usual for little-endian, ELFv1 for big-endian."""
    version = elf.flags & 3
    if elf.little:
        return "ppc64le-elfv1" if version == 1 else "ppc64le"
    return "ppc64-elfv2" if version == 2 else "ppc64"


def _mips(elf: ElfFile) -> str:
    """EF_MIPS_ABI, EF_MIPS_ABI2 (n32), EF_MIPS_NAN2008 and release 6, which no earlier release can run."""
    abi = "mips64" if elf.bits == 64 else "mipsn32" if elf.flags & 0x20 else _OLD_MIPS.get(elf.flags >> 12 & 15, "mips")
    release_6 = "r6" if elf.flags >> 28 in (9, 10) else ""
    return f"{abi}{release_6}{'-nan2008' if elf.flags & 0x400 else ''}"


_OLD_MIPS = {2: "mips-o64", 3: "mips-eabi32", 4: "mips-eabi64"}


def _loongarch(elf: ElfFile) -> str:
    """EF_LOONGARCH_ABI_MODIFIER; the double-float ABI has the plain name."""
    return f"loongarch{elf.bits}{ {1: '-softfloat', 2: '-singlefloat'}.get(elf.flags & 7, '') }"


_SPECIAL: dict[int, Callable[[ElfFile], str]] = {
    EM_MIPS: _mips,
    EM_PPC64: _ppc64,
    22: lambda elf: "s390x" if elf.bits == 64 else "s390",
    EM_ARM: _arm,
    EM_X86_64: lambda elf: "x86_64" if elf.bits == 64 else "x32",
    EM_AARCH64: lambda elf: "aarch64" if elf.bits == 64 else "aarch64-ilp32",
    EM_RISCV: _riscv,
    EM_LOONGARCH: _loongarch,
}

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


VER_FLG_BASE = 0x1
FIRST_VERSION = 2
"""The index of the first version that a library defines; 1 stands for none."""
_MOST = 0x7FFF  # a version index has 15 bits


class NeededVersion(msgspec.Struct, frozen=True):
    """One version that a needed library has to define."""

    library: str
    version: str


class SymbolVersions(msgspec.Struct, frozen=True):
    """Version names by the index that .gnu.version uses. The base version (the file's own name) is in neither.

    ``damaged`` are definitions whose hash is not that of their name: programs that need them do not start.
    """

    defined: dict[int, str]
    required: dict[int, NeededVersion]
    damaged: frozenset[int] = frozenset()

    def is_damaged(self, index: int) -> bool:
        """Whether no program finds what has this version: its hash is another one's, or no table reaches so far."""
        known = max((*self.defined, *self.required), default=None)
        return index in self.damaged or (known is not None and index > known)


def read_versions(dynamic: DynamicSection) -> SymbolVersions:
    """The version tables of a file (Linux Standard Base, "Symbol Versioning"). Raises :class:`ExtractError`."""
    defined, damaged = _definitions(dynamic)
    return SymbolVersions(defined, _requirements(dynamic), damaged)


def _definitions(dynamic: DynamicSection) -> tuple[dict[int, str], frozenset[int]]:
    """The names of the versions, and which of them have another name's hash."""
    table, count = _table(dynamic, DT_VERDEF, DT_VERDEFNUM)
    entry, auxiliary = struct.Struct(dynamic.elf.order + "HHHHIII"), struct.Struct(dynamic.elf.order + "II")
    found: dict[int, str] = {}
    damaged: set[int] = set()
    position = 0
    for _ in range(count):
        _version, flags, index, _count, hashed, first, step = _unpack(dynamic, entry, table, position)
        name, _ = _unpack(dynamic, auxiliary, table, position + first)
        if not flags & VER_FLG_BASE:
            text = found[index & 0x7FFF] = text_at(dynamic.strings, name)
            if "\\" not in text and hashed != elf_hash(text.encode()):
                damaged.add(index & 0x7FFF)
        if not step:
            break
        position += step
    return found, frozenset(damaged)


def _requirements(dynamic: DynamicSection) -> dict[int, NeededVersion]:
    table, count = _table(dynamic, DT_VERNEED, DT_VERNEEDNUM)
    entry, auxiliary = struct.Struct(dynamic.elf.order + "HHIII"), struct.Struct(dynamic.elf.order + "IHHII")
    found: dict[int, NeededVersion] = {}
    position = steps = 0
    for _ in range(count):
        _version, names, file, first, step = _unpack(dynamic, entry, table, position)
        library = text_at(dynamic.strings, file)
        at = position + first
        for _ in range(names):
            _hash, _flags, index, name, next_name = _unpack(dynamic, auxiliary, table, at)
            found[index & 0x7FFF] = NeededVersion(library, text_at(dynamic.strings, name))
            steps += 1
            if steps > _MOST:
                raise ExtractError(f"{dynamic.elf.path}: the symbol version table is corrupt")
            if not next_name:
                break
            at += next_name
        if not step:
            break
        position += step
    return found


def _table(dynamic: DynamicSection, address_tag: int, count_tag: int) -> tuple[bytes, int]:
    address, count = dynamic.get(address_tag), dynamic.get(count_tag) or 0
    if address is None or not count:
        return b"", 0
    return dynamic.elf.at_address(address), min(count, _MOST)


def _unpack(dynamic: DynamicSection, layout: struct.Struct, table: bytes, position: int) -> tuple[int, ...]:
    if position + layout.size > len(table):
        raise ExtractError(f"{dynamic.elf.path}: the symbol version table is corrupt")
    return layout.unpack_from(table, position)


PT_GNU_STACK, PT_GNU_RELRO = 0x6474E551, 0x6474E552
PF_X, PF_W = 1, 2
SHF_WRITE, SHF_ALLOC, SHF_TLS = 0x1, 0x2, 0x400

RELOCATED_ONCE = ".data.rel.ro"
"""Sections of constants that hold addresses: written to by the loader only. Linkers protect them unless told not to."""

_X86_FEATURES, _AARCH64_FEATURES, _RISCV_FEATURES = 0xC0000002, 0xC0000000, 0xC0000000
_X86_LEVEL_NEEDED = 0xC0008002
_BRANCH_NOTES: dict[int, tuple[int, tuple[str, ...]]] = {
    3: (_X86_FEATURES, ("IBT", "SHSTK")),
    EM_X86_64: (_X86_FEATURES, ("IBT", "SHSTK")),
    EM_AARCH64: (_AARCH64_FEATURES, ("BTI", "PAC", "GCS")),
    EM_RISCV: (_RISCV_FEATURES, ("ZICFILP", "ZICFISS")),
}
_X86_LEVELS = ("x86-64-baseline", "x86-64-v2", "x86-64-v3", "x86-64-v4")
_NO_EXECUTABLE_STACK_BY_DEFAULT = frozenset({EM_AARCH64, EM_LOONGARCH, EM_PPC64, EM_RISCV})

_CANARY = frozenset({"__stack_chk_fail", "__stack_chk_fail_local", "__stack_chk_guard", "__stack_smash_handler"})
_FORTIFIED = pattern(r"__(?!stack_)\w+_chk")


def protections(dynamic: DynamicSection, imports: Collection[str]) -> Iterator[str]:
    """What protects a process; canary and FORTIFY show as imports of the functions that they call."""
    if any(segment.type == PT_GNU_RELRO for segment in dynamic.elf.segments):
        yield FULL_RELRO if dynamic.bind_now else PARTIAL_RELRO
    if dynamic.bind_now:
        yield BIND_NOW
    if not _CANARY.isdisjoint(imports):
        yield STACK_CANARY
    if any(_FORTIFIED.fullmatch(name) for name in imports):
        yield FORTIFY
    yield from _branch_protection(dynamic.elf)


def weaknesses(dynamic: DynamicSection) -> Iterator[str]:
    """What makes a process easier to attack, or lets policies refuse the file."""
    elf = dynamic.elf
    if _executable_stack(elf):
        yield EXECUTABLE_STACK
    if dynamic.text_relocations:
        yield TEXT_RELOCATIONS
    if any(segment.type == PT_LOAD and segment.flags & 3 == PF_X | PF_W for segment in elf.segments):
        yield WRITABLE_CODE


def _executable_stack(elf: ElfFile) -> bool:
    """PT_GNU_STACK decides; without it the kernel's default for the machine does."""
    for segment in elf.segments:
        if segment.type == PT_GNU_STACK:
            return bool(segment.flags & PF_X)
    return elf.machine not in _NO_EXECUTABLE_STACK_BY_DEFAULT


def _branch_protection(elf: ElfFile) -> tuple[str, ...]:
    if elf.machine not in _BRANCH_NOTES:
        return ()
    kind, names = _BRANCH_NOTES[elf.machine]
    value = properties(elf.notes, elf.order, elf.bits).get(kind, 0)
    return tuple(sorted(name for bit, name in enumerate(names) if value >> bit & 1))


def needed_processor(elf: ElfFile) -> tuple[str, ...]:
    """The x86-64 levels beyond the baseline that the file declares it needs (GNU_PROPERTY_X86_ISA_1_NEEDED)."""
    if elf.machine != EM_X86_64:
        return ()
    value = properties(elf.notes, elf.order, elf.bits).get(_X86_LEVEL_NEEDED, 0)
    return tuple(name for bit, name in enumerate(_X86_LEVELS) if bit and value >> bit & 1)


class MemoryProtection:
    """The read-only and the writable addresses of a library, after the loader has relocated it.

    Sections tell, or segments where there is no section table. Both have what the loader protects after relocation
    (``PT_GNU_RELRO``).
    """

    def __init__(self, elf: ElfFile) -> None:
        self._read_only: list[range] = []
        self._writable: list[range] = []
        for place, writable in _sections(elf) if elf.sections else _segments(elf):
            (self._writable if writable else self._read_only).append(place)
        protected = (each for each in elf.segments if each.type == PT_GNU_RELRO)
        self._read_only += [range(each.address, each.address + each.memory_size) for each in protected]

    def is_read_only(self, address: int, size: int) -> bool | None:
        """Whether the ``size`` bytes at ``address`` are read-only; ``None`` where they lie nowhere."""
        last = address + size - 1
        if any(address in place and last in place for place in self._read_only):
            return True
        return False if any(address in place for place in self._writable) else None


def _sections(elf: ElfFile) -> list[tuple[range, bool]]:
    loaded = (each for each in elf.sections if each.flags & SHF_ALLOC and not each.flags & SHF_TLS and each.address)
    return [
        (
            range(each.address, each.address + each.size),
            bool(each.flags & SHF_WRITE) and not each.name.startswith(RELOCATED_ONCE),
        )
        for each in loaded
    ]


def _segments(elf: ElfFile) -> list[tuple[range, bool]]:
    loaded = (each for each in elf.segments if each.type == PT_LOAD)
    return [(range(each.address, each.address + each.memory_size), bool(each.flags & PF_W)) for each in loaded]
