"""What compilers were told that the ABI depends on, as ``DW_AT_producer`` records it.

GCC records its options by default; Clang does with ``-grecord-command-line``. No compiler records macros (``-D``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from abistore.compare.diff.parts import BuildMode, CallOptions, RecordedOptions, Toolchain
from abistore.model.deltas import Changed, Delta, Subject
from abistore.model.names import SELF
from abistore.model.recorded.call_options import about_calls
from abistore.model.snapshot import Snapshot, Target


class Mode(msgspec.Struct, frozen=True):
    """Options of which the last one holds; ``default`` is what holds without any. ``only_cpp``: C has no such thing."""

    options: str
    default: str
    only_cpp: bool = False


STANDARD: Final = "C++ standard"

MODES: Final = {
    "exceptions": Mode(r"-f(?:no-)?exceptions", "-fexceptions", only_cpp=True),
    "RTTI": Mode(r"-f(?:no-)?rtti", "-frtti", only_cpp=True),
    "thread-safe statics": Mode(r"-f(?:no-)?threadsafe-statics", "-fthreadsafe-statics", only_cpp=True),
    "TLS model": Mode(r"-ftls-model=\S+", "-ftls-model=global-dynamic"),
    "size of enumerations": Mode(r"-f(?:no-)?short-enums", "the target's own"),
    "width of wchar_t": Mode(r"-f(?:no-)?short-wchar", "the target's own"),
    "signedness of char": Mode(r"-f(?:no-)?(?:un)?signed-char", "the target's own"),
    "packing": Mode(r"-f(?:no-)?pack-struct(?:=\d+)?", "-fno-pack-struct"),
    "floating point": Mode(r"-mfloat-abi=\S+|-m(?:hard|soft)-float", "the target's own"),
    "sanitizers": Mode(r"-f(?:no-)?sanitize=\S+", "none"),
    "link-time optimisation": Mode(r"-f(?:no-)?lto(?:=\S+)?", "none"),
    STANDARD: Mode(r"", ""),
}
"""What has a kind of its own."""

OTHERS: Final = (
    r"-f(?:no-)?ms-extensions|-fabi-version=\d+|-f(?:pcc|reg)-struct-return"
    r"|-f(?:no-)?whole-program-vtables"
    r"|-m(?:abi|regparm|long-double)[-=]?\S*|-m(?:no-)?ms-bitfields|-m(?:no-)?rtd|-m(?:no-)?sseregparm"
    r"|-m(?:no-)?(?:80387|fp-ret-in-387)|-fcall-(?:used|saved)-\S+|-fclang-abi-compat=\S+"
)
"""Further options that change layouts, calls or mangled names. The file's notes tell what ``-fcf-protection`` made."""

_GCC: Final = r"GNU (?:C\+\+|C|Fortran|Ada)"


def toolchain_deltas(old: Snapshot, new: Snapshot) -> Iterator[Delta[Any]]:
    """How the compilers and the options that they recorded differ."""
    first, second = map(producers, (old, new))
    if first and second:
        described = all(each.evidence_of("layout").state == "full" for each in (old, new))
        yield from _modes(first, second, old.target if described else None)
    elif (first or second) and old.provenance.compilers and new.provenance.compilers:
        recorded = RecordedOptions(notable(first)), RecordedOptions(notable(second))
        if any(each.options for each in recorded):
            yield Changed(Subject(SELF, "compiler options"), *recorded)


def _modes(old: Sequence[str], new: Sequence[str], target: Target | None) -> Iterator[Delta[Any]]:
    """Each mode is one delta. A lower standard of C++ is one of the other options.

    Where all exports of ``target`` are described, those that options for calls concern have findings of their own.
    """
    before, after = others(old), others(new)
    for name, was, now in differing(old, new):
        if name == STANDARD and not is_raised(was, now):
            before, after = (*before, *was), (*after, *now)
        else:
            yield Changed(Subject(SELF, name), BuildMode(name, was), BuildMode(name, now))
    known, unusual = about_calls({*before, *after}, target) if target is not None else (frozenset(), frozenset())
    for part, sort, told in (("toolchain", Toolchain, {*before, *after} - known), ("calls", CallOptions, unusual)):
        was, now = (tuple(word for word in side if word in told) for side in (before, after))
        if was != now:
            yield Changed(Subject(SELF, part), sort(was), sort(now))


def producers(snapshot: Snapshot) -> tuple[str, ...]:
    """The compilers that recorded their options, with these."""
    return tuple(text for text in snapshot.provenance.compilers if _records(text))


@cache
def _records(producer: str) -> bool:
    return bool(re.match(_GCC, producer)) or (" clang version " in f" {producer}" and " -" in producer)


def mode(name: str, recorded: Sequence[str]) -> tuple[str, ...]:
    """What the units were compiled with, one value or several where they disagree; none where that is not known."""
    sort = MODES[name]
    if name == STANDARD:
        return tuple(sorted({each for text in recorded if (each := _standard(text))}))
    counted = (text for text in recorded if _is_cpp(text) or not sort.only_cpp)
    return tuple(sorted({_last(sort, text) for text in counted}))


def _last(sort: Mode, producer: str) -> str:
    found = [word for word in producer.split() if re.fullmatch(sort.options, word)]
    return found[-1].partition("=")[0] if found and "lto" in found[-1] else found[-1] if found else sort.default


def _is_cpp(producer: str) -> bool:
    return producer.startswith("GNU C++") or " -x c++" in producer


def _standard(producer: str) -> str | None:
    """``C++17``: GCC calls itself by the standard, wherever that comes from."""
    found = re.match(r"GNU (C\+\+\d+)\b", producer)
    return found[1] if found else None


def others(recorded: Sequence[str]) -> tuple[str, ...]:
    """The options of :data:`OTHERS` that some unit was compiled with, sorted."""
    return tuple(sorted({word for text in recorded for word in text.split() if re.fullmatch(OTHERS, word)}))


def is_raised(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a later C++ standard is asked for than before: ``C++98`` is earlier than ``C++11``."""
    return max(map(_year, after)) > max(map(_year, before))


def _year(standard: str) -> int:
    return (int(standard.removeprefix("C++")) - 90) % 100


def differing(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The modes that both sides tell, and that differ."""
    for name in MODES:
        before, after = mode(name, old), mode(name, new)
        if before and after and before != after:
            yield name, before, after


def notable(recorded: Sequence[str]) -> tuple[str, ...] | None:
    """The recorded options that the ABI depends on, where they are not the usual ones; ``None`` without records.

    The standard is left out: each compiler has another one by default.
    """
    if not recorded:
        return None
    told = ((name, sort) for name, sort in MODES.items() if name != STANDARD)
    values = (each for name, sort in told for each in mode(name, recorded) if each != sort.default)
    return tuple(sorted({*values, *others(recorded)}))
