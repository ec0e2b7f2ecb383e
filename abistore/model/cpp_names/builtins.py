"""The built-in types of C and C++, and the one spelling that each has here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

QUALIFIERS: Final = {
    "_Atomic": "_Atomic",
    "const": "const",
    "__const": "const",
    "__const__": "const",
    "volatile": "volatile",
    "__volatile": "volatile",
    "__volatile__": "volatile",
    "restrict": "restrict",
    "__restrict": "restrict",
    "__restrict__": "restrict",
}
"""Every spelling of a type qualifier, and the normal one."""

COMPLEX: Final = frozenset(["_Complex", "__complex__", "__complex", "complex"])

BUILTIN_WORDS: Final = frozenset(
    ("unsigned", "signed", "__signed__", "int", "long", "short", "char", "double", "float", "__int128", "bool", "_Bool")
) | {"_BitInt", "void", "__vector", "__float128", "_Float128"}
"""Words that make a built-in type together with others of their kind."""

PLAIN_BUILTINS: Final = frozenset(("unsigned", "signed", "int", "long", "short", "char", "double", "float", "_Bool"))
"""Those of them that most programs do with."""

INTEGERS: Final = {
    "char": 8,
    "unsigned char": 8,
    "signed char": -8,
    **dict.fromkeys(["short", "int", "long", "long long", "__int128"], 0),
    **dict.fromkeys([f"unsigned {word}" for word in ("short", "int", "long", "long long", "__int128")], 0),
    **dict.fromkeys(["wchar_t", "char8_t", "char16_t", "char32_t"], 0),
}
"""Integer types by normal spelling; where tools disagree on a literal's sign: 8 bits, negative if signed."""


def builtin(words: Sequence[str]) -> str:
    """The normal spelling of a built-in type by its words in any order: ``unsigned long`` of ``long unsigned int``."""
    rest = [
        word for word in words if word not in ("int", "signed", "__signed__", "unsigned", "_Complex", "long", "short")
    ]
    rest = ["bool" if word == "_Bool" else word for word in rest]
    vectors = [word for word in rest if word.startswith("__vector")]
    rest = [word for word in rest if not word.startswith("__vector")]
    signed = "signed" in words or "__signed__" in words
    prefix = ["_Complex"] if "_Complex" in words else []
    if "unsigned" in words:
        prefix.append("unsigned")
    elif signed and rest == ["char"]:
        prefix.append("signed")
    lengths = [word for word in ("short", "long") for _ in range(words.count(word))]
    core = rest or ([] if lengths else ["int"])
    return " ".join([*prefix, *lengths, *core, *vectors])


def cast(target: str, value: str) -> str:
    """``value`` converted to ``target``: integers lose the cast, the template's declaration has their type."""
    literal = value.removeprefix("-").isdecimal()
    if literal and target == "bool":
        return "false" if value == "0" else "true"
    if literal and target in INTEGERS:
        return str(_wrapped(int(value), INTEGERS[target]))
    if value == "0" and (target.endswith(("*", "* const")) or target == "std::nullptr_t"):
        return "0"
    return f"({target}){value}"


def _wrapped(value: int, bits: int) -> int:
    """A narrow character's value: plain and unsigned ones (positive ``bits``) from 0, signed ones from -128."""
    if bits == 0:
        return value
    return value & 0xFF if bits > 0 else (value + 128 & 0xFF) - 128
