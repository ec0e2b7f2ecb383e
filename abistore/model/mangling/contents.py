"""Names that compilers make from the contents of sources, and number: every build may have others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from abistore.model.names import EXPORTS, Name
from abistore.patterns import pattern

_HASHED: Final = pattern(
    r"_cgo(?:exp)?_[0-9a-f]{12}_"  # Go: what an exported function is called through
    r"|_Z\w*_GLOBAL__N__"  # NVCC: an unnamed namespace by its file, which no other unit can name
    r"|.*\?A0x[0-9a-f]{8}@"  # Visual C++: the same
    r"|(?:__odr_asan|__covrec_|__profc_|__profd_)"  # sanitizers, coverage and profiles
    r"|rust_metadata_|anon\.[0-9a-f]{16,}\."
    r"|[^.]+(?:\.[a-z_]+)*\.[a-z_]+\.\d+(?:\.[a-z_]\w*|\.\d+)*$"  # clones and promoted functions: f.llvm.8123, f.part.0
)
_RUST: Final = pattern(r"_ZN.*17h[0-9a-f]{16}E$|_R\w*Cs[0-9A-Za-z]*_")
METADATA: Final = "rust_metadata_"
"""What a library for programs in Rust has, which ask for functions by the hashes that these had."""


def is_from_contents(symbol: str) -> bool:
    """Whether a name has a hash of contents in it, or a number, and no source can name it."""
    return _HASHED.match(symbol) is not None


def named_by_sources(names: frozenset[Name], tables: Iterable[Iterable[Name]]) -> frozenset[Name]:
    """Those of ``names`` that somebody can ask for, where ``tables`` are the export tables of both sides.

    Names of Rust have hashes that only programs in Rust know, and no library is for these that has no metadata.
    """
    found = names - {each for each in names if each.kind in EXPORTS and is_from_contents(each.spelling)}
    hashed = frozenset(each for each in found if each.kind in EXPORTS and _RUST.match(each.spelling))
    if not hashed or any(each.spelling.startswith(METADATA) for table in tables for each in table):
        return found
    return found - hashed
