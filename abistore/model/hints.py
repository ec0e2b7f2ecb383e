"""Guesses by names and texts: the one interpreter of ``hints.toml``, which says what each means and what it gains."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

SOURCE: Final = Path(__file__).with_name("hints.toml")
"""What people write and read."""

TABLE: Final = SOURCE.with_suffix(".json")
"""The same for programs: reading TOML would cost a comparison of two small files a twentieth of its time."""

Test: TypeAlias = Callable[[str], "re.Match[str] | bool | None"]


class Hint(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a name or text that fits is taken for.

    One of ``pattern``, a regular expression that is searched for, and ``words``, of which a text must be one, is given.
    ``subject`` is what is called or written so. ``libraries`` is the number of libraries with kept pairs in which the
    hint applies (``python -m benchmarks.accuracy.hints --applies``); ``proof`` names a specification, and ``reason``
    says why a hint stays without either.
    """

    subject: str
    meaning: str
    example: str
    pattern: str = ""
    words: tuple[str, ...] = ()
    libraries: int = 0
    proof: str = ""
    reason: str = ""


def matches(effect: str, text: str) -> bool:
    """Whether a text is what the hint for ``effect`` looks for. An effect without a hint is a ``KeyError``."""
    return bool(_tests()[effect](text))


def any_matches(effect: str, texts: Iterable[str]) -> bool:
    """Whether one of these texts is what the hint for ``effect`` looks for."""
    return any(map(_tests()[effect], texts))


def test_of(effect: str) -> Test:
    """What a text is asked for this effect."""
    return _tests()[effect]


def forbids_use(member: str) -> bool:
    """Whether a member of this name is the library's alone, whatever its type is: ``internal_donotuse``."""
    return matches("forbidden", member.lower().replace("_", ""))


@lru_cache(1 << 10)
def is_private_node(version: str | None) -> bool:
    """Whether a version node says of itself that it is private or internal.

    ``GLIBC_PRIVATE``, ``Qt_5_PRIVATE_API``, ``SUNWprivate_1.1`` and ``FBSDprivate_1.0`` are such nodes. A version
    script puts there what other libraries of the same project need, and nobody else is to use.
    """
    return version is not None and matches("private_node", version)


@lru_cache(1 << 12)
def is_internal_namespace(name: str) -> bool:
    """Whether a namespace says of itself that only the library is to name what stands in it: ``detail``, ``impl_``."""
    return matches("internal_namespace", name)


def names_internals(qualified: str) -> bool:
    """Whether a qualified name has a scope in it that is called like an internal namespace."""
    return any(is_internal_namespace(each) for each in qualified.split("::")[:-1])


def replace_test(effect: str, test: Test) -> None:
    """Ask something else for the rest of this process: what a hint gains is measured without it."""
    _tests()[effect] = test


@cache
def hints() -> Mapping[str, Hint]:
    """All hints by their effect."""
    return msgspec.json.decode(TABLE.read_bytes(), type=dict[str, Hint])


class _Tests(dict[str, Test]):
    """The tests of hints by effect, each compiled when it is first asked for."""

    def __missing__(self, effect: str) -> Test:
        hint = hints()[effect]
        test: Test = frozenset(hint.words).__contains__ if hint.words else re.compile(hint.pattern).search
        self[effect] = test
        return test


@cache
def _tests() -> _Tests:
    return _Tests()
