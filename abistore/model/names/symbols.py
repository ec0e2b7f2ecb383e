"""Built-in types, and what the first letters of a mangled C++ symbol show (Itanium C++ ABI, section 5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from abistore.model import words as decorated
from abistore.model.declarations import EXPORTS, Name
from abistore.model.words import DECORATED, RTTI, VBTABLE, VFTABLE
from abistore.patterns import pattern

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


MANGLED: Final = "_Z"
_ANY_MANGLED: Final = (MANGLED, DECORATED)

VTABLE, VTT, TYPEINFO, TYPEINFO_NAME, CONSTRUCTION_VTABLE = "_ZTV", "_ZTT", "_ZTI", "_ZTS", "_ZTC"

CLASS_DATA: Final = (VTABLE, VTT, TYPEINFO, TYPEINFO_NAME, CONSTRUCTION_VTABLE, VFTABLE, VBTABLE, RTTI)
"""Prefixes of a class's vtable, VTT, typeinfo, typeinfo name and construction vtables: emitted once for a class.

The last three are of Visual C++: tables of virtual functions and of virtual bases, and type information.
"""

VTABLES: Final = (VTABLE, VFTABLE)
"""Prefixes of the tables that hold virtual functions."""

TLS_INITIALIZER: Final = "_ZTH"
"""What initialises a thread-local variable at run time (Itanium C++ ABI, section 5.1.4.2)."""

THUNKS: Final = ("_ZTh", "_ZTv", "_ZTc")
"""Prefixes of thunks: entry points that adjust ``this`` or the result of a virtual call through a base."""

OF_CLASS: Final = (*CLASS_DATA, *THUNKS)
"""Prefixes of all that compilers emit for a class."""

LOCAL_CLASS_DATA: Final = tuple(f"{prefix}Z" for prefix in (VTABLE, TYPEINFO, TYPEINFO_NAME, VTT))
"""Prefixes of the data of a class within a function."""

MEMBER: Final = "_ZN"
"""The prefix of members of classes and namespaces, other than those that have qualifiers."""


REPLACEABLE: Final = pattern(r"_Z(?:n[wa][mj]|d[la]Pv[mj]?)(?:St11align_val_t)?(?:RKSt9nothrow_t)?")
"""The ``operator new`` and ``operator delete`` that a program may replace ([new.delete]), with their sizes of 32 and 64
bits."""

NEW_AND_DELETE: Final = ("_Znw", "_Zna", "_Zdl", "_Zda", "??2@", "??3@", "??_U@", "??_V@")
"""Prefixes of all ``operator new`` and ``operator delete`` at global scope, those of Visual C++ last."""

ENCODED: Final = pattern(r"_Z(?P<special>T[VIST])?(?P<nested>N[rVK]*[RO]?)?")
"""What stands before the first name of a function, a variable, or a class's data."""

HEAD: Final = pattern(
    r"_Z(?:T[VISTWH]|GV|GR|TC|Th[n\d]+_|Tv[n\d]+_[n\d]+_|Tc(?:h[n\d]+_|v[n\d]+_[n\d]+_){2})?Z*(?P<nested>N[rVKRO]*)?"
)
"""What stands before the first name of any symbol: a vtable, a thunk, a local or a nested name."""

_MEMBER_OF_STD: Final = pattern(r"_Z(?:T[VTIS]|GV)?N[rVKRO]*S[tabsiod]")
_COMPILER_MADE: Final = pattern(r"_ZT[VISTCvhcHWA]|_ZG(?:[VR]|T[tn])|_ZZ")
_CLONE: Final = pattern(r"(?<!\.)\.\w[\w.]*$")
_NESTED: Final = pattern(r"_Z(?:T[VTIS]|GV)?N[rVK]*[RO]?(?=\d)")
_SCOPED: Final = pattern(r"_Z(?:T[VTISC]|GV|T[hvc][n\d_]+)*N[rVKRO]*(\d{1,9})", re.ASCII)
_THIS: Final = pattern(r"_ZN(?P<restrict>r?)(?P<volatile>V?)(?P<const>K?)(?P<reference>[RO]?)")
_REQUALIFIED: Final = pattern(r"_ZN[rVKRO]+(?=\d|St|S)")
_FREE: Final = pattern(r"_Z(\d{1,9})", re.ASCII)
_OWN: Final = "_ZL"
_SIZE: Final = pattern(r"\d{1,9}", re.ASCII)
_LOCAL: Final = pattern("_Z(Z+)")
_STANDARD: Final = pattern(r"_Z(?:GV|GT[tn]|T[ISVT])?N?[VK]*S[a-z]|_Z[nd][lwa]")

_MADE_FOR: Final = pattern(r"_Z(?:GTt|GTn|GV|GR|TW|TH)")
"""What stands before what a symbol is made for: clones for transactions, guards, temporaries, thread-local wrappers."""

_DELETE: Final = pattern(r"(_ZN.+)dlEPv(?:[jmy]?(?:St11align_val_t)?)$")
_UNMANGLED: Final = pattern(r"(\d{1,9})(\w+)", re.ASCII)

LOCAL: Final = "_ZZ"
"""How the symbols of what is local to a function begin."""

LOCAL_GUARD: Final = "_ZGVZ"
"""How the guards of these begin."""

_WORDS: Final = (("const", "const"), ("volatile", "volatile"), ("restrict", "__restrict"))
_REFERENCES: Final = {"R": "&", "O": "&&"}


_SIZED: Final = pattern(r"@?([^@?]+)@\d+")


def is_mangled(symbol: str) -> bool:
    """Whether ``symbol`` is a mangled C++ name, of the Itanium C++ ABI or of Visual C++."""
    return symbol.startswith(_ANY_MANGLED)


def may_be_nested(spelling: str) -> bool:
    """Whether a name may stand in a scope: a quick look, which C names do not pass."""
    return "::" in spelling or is_mangled(spelling)


def is_local(symbol: str) -> bool:
    """Whether ``symbol`` is local to a function, or the guard of what is: exported from inline functions only."""
    return symbol.startswith((LOCAL, LOCAL_GUARD))


def may_be_template(symbol: str) -> bool:
    """Whether ``symbol`` may be an instance of a function template: few others are left, and none is missed.

    The arguments stand between ``I`` and ``E`` (5.1.5.1); within a nested name they are its last part, and an ``E``
    ends that too: ``_ZN3geo4makeI6WalkerEEvv``.
    """
    if symbol.startswith(MEMBER):
        return "EE" in symbol and "I" in symbol
    return symbol.startswith(MANGLED) and "I" in symbol and "E" in symbol


def is_of_standard_library(symbol: str) -> bool:
    """Whether a mangled name is one of namespace ``std`` or an ``operator new``, as many libraries get linked in."""
    return _STANDARD.match(symbol) is not None


def is_member_of_std(symbol: str) -> bool:
    """Whether a mangled name is nested in ``std``: a member of it or of its classes (section 5.1.8)."""
    return _MEMBER_OF_STD.match(symbol) is not None


def is_in_std(symbol: str) -> bool:
    """Whether a mangled name is of a function or variable of ``std`` itself (section 5.1.2, unscoped-name)."""
    return symbol.startswith("_ZSt")


def is_declared(symbol: str) -> bool:
    """Whether some source declares ``symbol``: compilers make vtables, type information, thunks and guards (5.1.4).

    Entities local to an inline function (5.1.6) are exported only for its copies to share. No identifier has a dot,
    which compilers put before what they made of a function: ``_Z3onei.resolver``, ``one.cold`` (5.1.2, vendor suffix).
    """
    if "." in symbol and _CLONE.search(symbol):
        return False
    if symbol.startswith(DECORATED):
        return decorated.is_declared(symbol)
    return not is_mangled(symbol) or _COMPILER_MADE.match(symbol) is None


def qualifiers(symbol: str) -> tuple[str, ...]:
    """The qualifiers of ``this`` that a mangled name tells, as they are written: ``("const", "&")``."""
    found = _THIS.match(symbol)
    if found is None:
        return ()
    words = [word for group, word in _WORDS if found[group]]
    return (*words, _REFERENCES[found["reference"]]) if found["reference"] else tuple(words)


def file_local(name: str) -> str:
    """The symbol of a variable or constant that one file of C++ has for itself: ``_ZL5facts``."""
    return f"_ZL{len(name)}{name}"


def is_const_member(symbol: str) -> bool:
    """Whether ``symbol`` is a member function for constant objects."""
    return symbol.startswith("_ZNK")


def without_const(symbol: str) -> str:
    """The overload of a constant member function that is not for constant objects: ``_ZN1A1fEv`` of ``_ZNK1A1fEv``."""
    return MEMBER + symbol.removeprefix("_ZNK")


def without_qualifiers(symbol: str) -> str:
    """A member function's symbol as it is without ``const``, ``volatile``, ``&`` and ``&&``."""
    if symbol.startswith(DECORATED):
        from abistore.model.names.microsoft import without_letters  # ELF files have none

        return without_letters(symbol, qualifiers=True)
    match = _REQUALIFIED.match(symbol) if symbol.startswith(MEMBER) else None
    return MEMBER + symbol[match.end() :] if match else symbol


def c_name(symbol: str) -> str:
    """The C name that a free function of the global namespace would have: ``open`` of ``_Z4openv``."""
    match = _FREE.match(symbol) if is_mangled(symbol) else None
    if not match:
        return symbol
    length = int(match[1])
    name = symbol[match.end() : match.end() + length]
    return name if len(name) == length and symbol[match.end() + length :] else symbol


def mangled_scope(symbol: str) -> tuple[str, bool]:
    """The outermost namespace or class of a mangled name, and whether it shows to be a class; empty for none.

    A constructor, destructor or template argument right after the name tells a class.
    """
    match = _SCOPED.match(symbol)
    if match is None:
        return "", False
    end = match.end() + int(match[1])
    name, rest = symbol[match.end() : end], symbol[end:]
    return name, rest.startswith("I") or re.match(r"C[1-3]|D[0-2]", rest) is not None


def plain_path(symbol: str) -> tuple[str, ...]:
    """The components of a nested name up to its first template arguments, where its letters spell them; else none.

    ``_ZN3geo5ShapeC1Ev`` is ``geo``, ``Shape``, ``Shape``. Operators, tags and unnamed namespaces are not spelled.
    """
    start = _NESTED.match(symbol)
    place, parts = start.end() if start else len(symbol), list[str]()
    while size := _SIZE.match(symbol, place):
        place = size.end() + int(size[0])
        parts.append(symbol[size.end() : place])
    rest = symbol[place : place + 2]
    if not parts or any(each.startswith("_GLOBAL__N") for each in parts):
        return ()
    if rest.startswith(("E", "I")):
        return tuple(parts)
    special = {"C": parts[-1], "D": f"~{parts[-1]}"}.get(rest[:1]) if rest[1:] in ("0", "1", "2", "3") else None
    return (*parts, special) if special else ()


def enclosing_functions(symbol: str) -> int:
    """How many functions a local entity stands in."""
    local = _LOCAL.match(symbol)
    return len(local[1]) if local else 0


def class_symbol(prefix: str, qualified: str) -> str:
    """The symbol of a class's data (``_ZTV``, ...) by the class's name, which has no template arguments."""
    parts = "".join(f"{len(each)}{each}" for each in qualified.split("::"))
    return f"{prefix}N{parts}E" if "::" in qualified else f"{prefix}{parts}"


def with_external_linkage(symbol: str) -> str:
    """What a constant or function is called that all programs share: ``_ZN3geo5LIMITE`` of ``_ZN3geoL5LIMITE``.

    Those of headers that each program has for itself may become ``inline``, and stay what they are.
    """
    if symbol.startswith(_OWN):
        size = _SIZE.match(symbol, len(_OWN))
        plain = size is not None and size.end() + int(size[0]) == len(symbol)
        return symbol[size.end() :] if size is not None and plain else MANGLED + symbol[len(_OWN) :]
    place = len(MEMBER) if symbol.startswith(MEMBER) else len(symbol)
    while (size := _SIZE.match(symbol, place)) is not None:
        place = size.end() + int(size[0])
        if symbol.startswith("L", place) and _SIZE.match(symbol, place + 1):
            return symbol[:place] + symbol[place + 1 :]
    return symbol


def member_prefixes(class_data: str) -> tuple[str, ...]:
    """How the symbols of the member functions begin of the class that ``class_data`` is the data of."""
    if class_data.startswith(DECORATED):
        return ()
    inner = class_data[len(VTABLE) :]
    inner = inner[1:-1] if inner.startswith("N") else inner
    return tuple(f"{start}{inner}" for start in (MEMBER, "_ZNK", "_ZNV"))


def freed_by(symbol: str) -> tuple[str, str] | None:
    """Of a class's own ``operator delete`` as ``delete`` calls it: the deleting destructor, and how such ones begin."""
    found = _DELETE.match(symbol)
    return (f"{found[1]}D0Ev", f"{found[1]}dlE") if found else None


def made_for(symbol: str) -> str | None:
    """The function or variable that compilers made ``symbol`` for; variables at global scope are not mangled."""
    found = _MADE_FOR.match(symbol)
    if found is None:
        return None
    encoded = symbol[found.end() :].removesuffix("_")
    plain = _UNMANGLED.fullmatch(encoded)
    return plain[2] if plain and int(plain[1]) == len(plain[2]) else f"{MANGLED}{encoded}"


def without_stack(symbol: str) -> str:
    """``open`` of ``open@8``, as 32-bit Windows calls a function by the size of its parameters; others as they are.

    Definition files may leave it out.
    """
    sized = _SIZED.fullmatch(symbol)
    return sized[1] if sized else symbol


def primary(symbol: str) -> str:
    """The symbol that stands for ``symbol``: a class's vtable for its typeinfo, ``C1`` and ``D1`` for their kind."""
    if symbol.startswith((CONSTRUCTION_VTABLE, DECORATED)):
        return symbol
    if symbol.startswith(CLASS_DATA):
        return VTABLE + symbol[len(VTABLE) :]
    for variants, first in ((("C2E", "C3E"), "C1E"), (("D0E", "D2E"), "D1E")):
        for variant in variants:
            if symbol.startswith(MEMBER) and variant in symbol:
                head, _, tail = symbol.rpartition(variant)
                return head + first + tail
    return symbol


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
