"""Qualified C++ names in normal form, their parts, and the names that compilers emit for them.

Every function reads spelled names by :func:`outside`, which alone knows what is a bracket and what an operator.

The normal form of spelled C and C++ names and built-in types: one spelling for what tools spell differently.

The rules, and why, are in ``docs/lab/decisions/0001-normal-form-of-names.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from abistore.model.declarations import Name
from abistore.model.names.symbols import (
    CLASS_DATA,
    CONSTRUCTION_VTABLE,
    ENCODED,
    HEAD,
    OF_CLASS,
    PLAIN_BUILTINS,
    TYPEINFO,
    TYPEINFO_NAME,
    VTABLE,
    VTT,
    builtin,
    is_in_std,
    is_mangled,
    is_member_of_std,
    mangled_scope,
)
from abistore.model.shapes import VOID, Array, Primitive, Qualified, TypeRef
from abistore.model.words import OF_TABLES, is_decorated
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.model.names.grammar import ValueOf

_TOKEN: Final = pattern(
    r"(?<!\w)operator *(?:\(\)|\[\]|<=>|->\*?|<<=?|>>=?|<=?|>=?)"  # no bracket among these
    r"|->|\(anonymous namespace\)|::|[<(\[{]|[>)\]}]| "
)
_CLOSES: Final = {">": "<", ")": "(", "]": "[", "}": "{"}

_SPECIAL: Final = pattern(
    r"^(?:vtable for |VTT for |typeinfo (?:name )?for |guard variable for |construction vtable for "
    r"|(?:non- ?virtual|virtual|covariant return) thunk to |TLS (?:init|wrapper) function for )+"
)
"""What demanglers write before the name that a compiler's own symbol is about."""

_PLAIN_ENTITY: Final = pattern(r"(?!.*operator)(?:[\w:~ ]* )?([\w:~]+)(?:\Z|\((?!anonymous namespace\)))", re.DOTALL)
"""What stands before the parameters of most symbols."""

_BRACKET: Final = pattern(r"[<(\[{>)\]}]")
_OPERATOR: Final = pattern(r"(?<!\w)operator(?!\w)")


def outside(text: str) -> Iterator[tuple[str, int, int]]:
    """The brackets, ``::`` and spaces of ``text`` that stand in no other brackets: each with its start and end.

    A bracket is yielded with its partner: ``("<", 3, 8)`` is ``<int>`` in ``Box<int>::x``. One without a partner ends
    with the text. The signs of ``operator<`` and ``->`` are none, nor is ``>`` in the parentheses of ``B<(a > b)>``.
    """
    opened: list[tuple[str, int]] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "<([{":
            opened.append((token, match.start()))
        elif token not in _CLOSES:
            if not opened and token[0] in ": ":
                yield token, match.start(), match.end()
        elif (partner := _partner(opened, token)) is not None:
            sign, start = opened[partner]
            del opened[partner:]
            if not opened:
                yield sign, start, match.end()
    if opened:
        yield opened[0][0], opened[0][1], len(text)


def _partner(opened: list[tuple[str, int]], token: str) -> int | None:
    """Which of the ``opened`` brackets ``token`` closes. ``<`` within parentheses may be a sign, and ends with them."""
    sign = _CLOSES[token]
    for place in range(len(opened) - 1, -1, -1):
        if opened[place][0] == sign:
            return place
        if token == ">" or opened[place][0] != "<":
            break
    return None


def entity(demangled: str) -> str:
    """The qualified name that a demangled symbol is about: without ``vtable for``, result type and parameters."""
    text = _SPECIAL.sub("", demangled)
    plain = _PLAIN_ENTITY.match(text)
    if plain is not None:
        return plain[1]
    start = 0
    for token, begin, end in outside(text):
        if token == "(":
            return text[start:begin]
        if token == " " and _OPERATOR.search(text, start, begin) is None:
            start = end
    return text[start:]


def template_of(qualified: str) -> tuple[str, str]:
    """The last template in a qualified name and its arguments: ``ns::Box``, ``<int>``; no arguments where none is."""
    *_, last = (None, *(each for each in outside(qualified) if each[0] == "<"))
    return (qualified, "") if last is None else (qualified[: last[1]], qualified[last[1] : last[2]])


def scope(qualified: str) -> str:
    """The namespace or class that a qualified name stands in; empty for the global namespace."""
    *_, last = (0, *(begin for token, begin, _ in outside(qualified) if token == "::"))
    return qualified[:last]


def outermost(demangled: str) -> str:
    """The outermost namespace or class of a demangled symbol; empty for a name at global scope."""
    qualified = entity(demangled)
    match = re.match(r"[A-Za-z_]\w*", qualified)
    return match[0] if match and qualified.startswith(("::", "<"), match.end()) else ""


def last_component(name: str) -> str:
    """The part of a normal name after its last ``::``, without template arguments and parameters."""
    tail = name[name.rfind(":") + 1 :]
    if _BRACKET.search(tail) is None and sum(map(name.count, "<([{")) == sum(map(name.count, ">)]}")):
        return tail
    return _last_component(name)


@lru_cache(1 << 10)
def _last_component(name: str) -> str:
    start, end = 0, len(name)
    for token, begin, after in outside(name):
        if token == "::":
            start, end = after, len(name)
        elif token != " " and begin > start:
            end = min(end, begin)
    return name[start:end]


def without_parameters(text: str) -> str:
    """``geo::norm`` of ``geo::norm(geo::Point const&) const``; a text without parameters as it is."""
    *_, last = (None, *((begin, end) for token, begin, end in outside(text) if token == "("))
    return text[: last[0]] if last and last[0] and text[: last[1]].endswith(")") else text


def parameter_count(parameters: str) -> int:
    """How many parameters a list in parentheses has, which stands first in the text."""
    lists = [(begin + 1, end - 1) for token, begin, end in outside(parameters) if token == "("]
    inner = parameters[slice(*lists[0])] if lists else ""
    within = sum(inner.count(",", begin, end) for _, begin, end in outside(inner))
    return 1 + inner.count(",") - within if inner else 0


def without_arguments(name: str, *, within: bool = True) -> str:
    """``geo::Box<...>::add(geo::Point<...>)`` of ``geo::Box<geo::Point<int>>::add(geo::Point<int>)``.

    Those of parameters too, unless ``within`` is false, and no deeper.
    """
    parts, place = [], 0
    for token, begin, end in outside(name):
        if token == "<":
            parts += [name[place:begin], "<...>"]
            place = end
        elif token == "(" and within:
            parts += [name[place : begin + 1], without_arguments(name[begin + 1 : end], within=False)]
            place = end
    return "".join([*parts, name[place:]])


CLOSURE: Final = "{lambda("
"""How the normal spelling of a closure begins where its parameters are told."""

UNTOLD_CLOSURE: Final = "{lambda}"
"""The normal spelling of a closure of which only a place in a file is told, as Clang does."""


def number_closure(text: str, ordinal: int) -> str:
    """The spelling ``text`` of a closure, or of a pointer or reference to one, with the closure's number."""
    braces = [(begin, end - 1) for token, begin, end in outside(text) if token == "{" and text[end - 1] == "}"]
    closures = [each for each in braces if text.startswith(CLOSURE, each[0])]
    if not closures:
        return text
    start, end = closures[-1]
    return text if "#" in text[start:end] else f"{text[:end]}#{ordinal}{text[end:]}"


_MARKS: Final = pattern(r"[<>,(){}]")
_UNUSUAL: Final = pattern(r"operator(?!\(\))|->|['\"]|(?<!\w)<", re.ASCII)
"""Where ``<``, ``>`` and ``,`` may be something else than those of argument lists, even outside parentheses."""


def plain_template(text: str) -> tuple[str, list[str]] | None:
    """The name and the arguments of a plain ``name<arguments>``; ``None`` for whatever is not so plain.

    Debug information has a hundred thousand of these: they are read without a look at operators.
    """
    if _UNUSUAL.search(text):
        return None
    arguments: list[str] = []
    depth = enclosed = start = first = 0
    for match in _MARKS.finditer(text):
        mark, position = match[0], match.start()
        if mark in "({":
            enclosed += 1
        elif mark in ")}":
            enclosed -= 1
        elif enclosed:
            continue
        elif mark == "<":
            depth += 1
            if depth == 1:
                if arguments:
                    return None  # name<...>::name<...>
                first, start = position, position + 1
        elif depth == 0:
            return None
        elif mark == ">":
            depth -= 1
            if depth == 0:
                arguments.append(text[start:position].strip())
                if position != len(text) - 1:
                    return None
        elif depth == 1:
            arguments.append(text[start:position].strip())
            start = position + 1
    return None if depth or enclosed or not all(arguments) else (text[:first], arguments)


MAX_NORMAL_LENGTH: Final = 1 << 16
"""Longer names are kept as they are: no compiler writes them, and parsing stays bounded."""

_WORD = r"[A-Za-z_]\w*\b"
_PLAIN: Final = pattern(rf"{_WORD}(?:::~?{_WORD})*", re.ASCII)
_PLAIN_TEMPLATE: Final = pattern(
    rf"{_WORD}(?:::{_WORD})*<(?:{_WORD}|(?<=\w)::(?=\w)|(?<=>)::(?=\w)|(?<=\w)<|(?<=[\w>])>| >|(?<=[\w>]), "
    r"|(?<=[<\s])-?(?:0|[1-9]\d*)(?=[,>\s]))*(?<=>)",
    re.ASCII,
)
_WORDS: Final = frozenset(
    (
        "operator", "nullptr", "auto", "unsigned", "signed", "_Bool", "_Complex", "__complex__", "complex", "_Atomic",
        "const", "volatile", "restrict", "__restrict", "__restrict__", "__const", "__volatile__", "class", "enum",
        "struct", "typename", "union", "void", "lambda", "unnamed", "anonymous", "decltype", "int", "_BitInt",
    )
)  # fmt: skip
_SPECIAL_WORD: Final = pattern(rf"\b(?:_GLOBAL__N_\w*|{'|'.join(sorted(_WORDS))})\b")

_RISKY: Final = pattern(
    r"(?:^|[^\w>)}\]])::|::\s|_Complex|complex|nullptr|_Atomic|\*::"
    r"|(?:class|enum|struct|typename|union)\s*::"
)
"""Where text that only resembles a name may not settle at once; such text is kept as it is."""


def normal_name(text: str, value_of: ValueOf | None = None) -> str:
    """The normal form of a qualified name or built-in type as a compiler, debug information or demangler spells it.

    ``value_of`` gives what other compilers write for a template argument that only a declaration explains, in normal
    form: ``(geo::Color)0`` for the enumerator ``geo::Red``.
    Text that is no name comes back with its white space squeezed; the function never fails.
    """
    return _normal(text) if value_of is None else _parsed(text, value_of)


@lru_cache(1 << 16)
def _normal(text: str) -> str:
    if len(text) > MAX_NORMAL_LENGTH:  # a regular expression keeps a hundred bytes for each word
        return _parsed(text)
    words = text.split(" ")
    if PLAIN_BUILTINS.issuperset(words):
        return builtin(words)
    if text.isidentifier() and text.isascii() and text not in _WORDS and not text.startswith("_GLOBAL__N_"):
        return text
    if _PLAIN.fullmatch(text) and not _SPECIAL_WORD.search(text):
        return text
    if _PLAIN_TEMPLATE.fullmatch(text) and not _SPECIAL_WORD.search(text) and text.count("<") == text.count(">"):
        return text.replace(" >", ">")
    return _parsed(text)


def _parsed(text: str, value_of: ValueOf | None = None) -> str:
    squeezed = " ".join(text.split())
    if len(text) > MAX_NORMAL_LENGTH:
        return squeezed
    from abistore.model.names.grammar import (
        NotAName,  # C has plain names only
        Parser,
        tokens,
    )

    try:
        found = Parser(tokens(text), value_of).whole()
        if _RISKY.search(text) and Parser(tokens(found), value_of).whole() != found:
            return squeezed
    except NotAName:
        return squeezed
    return found


@lru_cache(1 << 10)
def primitive(text: str, size: int) -> Primitive:
    """The built-in type that ``text`` spells, ``size`` bytes long."""
    spelling = normal_name(text)
    return VOID if spelling == "void" else Primitive(spelling, size)


def qualified(target: TypeRef, qualifiers: tuple[str, ...]) -> TypeRef:
    """``target`` with ``qualifiers`` added: joined with those it has, and moved to the element of an array."""
    if not qualifiers:
        return target
    match target:
        case Qualified():
            return Qualified(target.target, tuple(sorted({*target.qualifiers, *qualifiers})))
        case Array(vector=False):
            return Array(qualified(target.element, qualifiers), target.count)
    return Qualified(target, tuple(sorted(set(qualifiers))))


MAX_LENGTH = 1 << 14
MAX_OUTPUT = 1 << 16
"""Longer symbols stay mangled, and so do those that would become longer, which is known before."""

SURE_LENGTH, SURE_GROWTH = 1 << 12, 40
"""Names up to so long, or so many times as long as their symbol, get their normal form; real ones grow by 32 at most.

Of others a small file could hold hundreds, and spelling each in normal form takes a tenth of a second."""

SPECIAL_PREFIXES = {"TV": "vtable for ", "TI": "typeinfo for ", "TS": "typeinfo name for ", "TT": "VTT for "}

_SPECIAL_SYMBOLS = pattern(r"construction vtable for (?P<table>.+)-in-(?P<whole>.+)|(?P<thunk>non-virtual thunk to )")

RUNTIMES = ("libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib")


@lru_cache(1 << 18)
def demangle(symbol: str) -> str:
    """The normal form of what ``symbol`` names; ``symbol`` itself where it is not a mangled C++ name."""
    if not is_mangled(symbol) or not symbol.isascii() or len(symbol) > MAX_LENGTH:
        return symbol
    if is_decorated(symbol):
        from abistore.model.names.microsoft import demangled  # ELF files have none

        readable = demangled(symbol) or symbol
        return readable if readable == symbol or readable.startswith(OF_TABLES) else normal_name(readable)
    from abistore.model.names.mangled_types import is_short  # C has no such names

    text = _demangler()(symbol) if is_short(symbol) else None
    if not text or len(text) > MAX_OUTPUT:
        return symbol
    sure = len(text) <= max(SURE_LENGTH, SURE_GROWTH * len(symbol))
    return normal_demangled(text) if sure else text


def normal_demangled(text: str) -> str:
    """The normal form of a demangled name; the hyphens in what stands before one are no operators."""
    said = _SPECIAL_SYMBOLS.match(text)
    if said is None:
        return normal_name(text)
    if said["table"]:
        return f"construction vtable for {normal_name(said['table'])}-in-{normal_name(said['whole'])}"
    return said["thunk"] + normal_name(text[said.end("thunk") :])


@cache
def _demangler() -> Callable[[str], str | None]:
    return runtime_demangler() or plain_name


def runtime_demangler() -> Callable[[str], str | None] | None:
    """``__cxa_demangle`` of the C++ runtime (Itanium C++ ABI, section 3.4), or ``None`` without one."""
    import ctypes  # loads libffi and a C++ runtime: only for who demangles

    for library in RUNTIMES:
        try:
            loaded = ctypes.CDLL(library)
            function, release = loaded.__cxa_demangle, ctypes.CDLL(None).free
        except (OSError, AttributeError):
            continue
        break
    else:
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    release.restype = None
    release.argtypes = [ctypes.c_void_p]

    def run(symbol: str) -> str | None:
        status = ctypes.c_int()
        address = function(symbol.encode(), None, None, ctypes.byref(status))
        if not address:
            return None
        try:
            return ctypes.string_at(address).decode("utf-8", "replace")
        finally:
            release(address)

    return run


def plain_name(symbol: str) -> str | None:
    """The qualified name without parameters, where the symbol spells it in plain identifiers; else ``None``.

    Itanium C++ ABI, section 5.1: ``_Z3fooi`` is ``foo``, ``_ZN3geo5ShapeD1Ev`` is ``geo::Shape::~Shape``.
    """
    match = ENCODED.match(symbol)
    if match is None:
        return None
    prefix, rest = SPECIAL_PREFIXES.get(match["special"], ""), symbol[match.end() :]
    components: list[str] = []
    while length := re.match(r"[1-9]\d{0,3}", rest):
        end = length.end() + int(length[0])
        components.append(
            "(anonymous namespace)" if rest[length.end() :].startswith("_GLOBAL__N") else rest[length.end() : end]
        )
        rest = rest[end:]
        if not match["nested"] or not components[-1]:
            break
    if components and rest.startswith(("C1", "C2", "D0", "D1", "D2")) and match["nested"]:
        components.append(("~" if rest[0] == "D" else "") + components[-1])
        rest = rest[2:]
    if not components or (match["nested"] and not rest.startswith("E")) or rest.startswith(("I", "B")):
        return None
    return prefix + "::".join(components)


_CODE: Final = pattern(r"C[1-3](?=[EIB])|CI[1-3](?=[\dNS])|D[0-2](?=[EB])")
"""What may stand for the name of a constructor or destructor (Itanium C++ ABI, section 5.1.4.3)."""

_CODES: Final = tuple(tuple(codes.split()) for codes in ("C1 C2 C3", "CI1 CI2 CI3", "D1 D2 D0"))
_TABLES: Final = (VTABLE, TYPEINFO, TYPEINFO_NAME, VTT)


def class_behind(symbol: str) -> str:
    """The class that ``symbol`` is emitted for, as ``geo::Shape`` for ``_ZTVN3geo5ShapeE``; empty for any other."""
    if not symbol.startswith(OF_CLASS):
        return ""
    if is_decorated(symbol):
        from abistore.model.names.microsoft import class_of  # ELF files have none

        return normal_name(class_of(symbol))
    subject = entity(demangle(symbol))
    return subject if symbol.startswith(CLASS_DATA) else scope(subject)


def outermost_of(symbol: str) -> str:
    """The outermost namespace or class of what ``symbol`` names; empty at global scope.

    Members of what has a plain name tell it without being demangled, and so do those of ``std``.
    """
    if is_member_of_std(symbol) or is_in_std(symbol):
        return "std"
    found, _ = mangled_scope(symbol)
    tagged = symbol.startswith("B", symbol.find(found) + len(found))
    return found if found and not tagged and not found.startswith("_GLOBAL__N") else outermost(demangle(symbol))


def siblings(symbol: str) -> tuple[str, ...]:
    """The symbols that compilers emit together with ``symbol`` for one declaration, the one that stands for all first.

    A vtable with its typeinfo, the ``C1`` and ``C2`` of a constructor, the ``D1``, ``D2`` and ``D0`` of a destructor.
    """
    if symbol.startswith(CLASS_DATA):
        alone = symbol.startswith(CONSTRUCTION_VTABLE) or is_decorated(symbol)
        return (symbol,) if alone else tuple(table + symbol[len(VTABLE) :] for table in _TABLES)
    found = _code(symbol)
    if found is None:
        return (symbol,)
    codes = next(codes for codes in _CODES if found[0] in codes)
    return tuple(f"{symbol[: found.start()]}{code}{symbol[found.end() :]}" for code in codes)


@lru_cache(1 << 14)
def template_behind(name: Name) -> str:
    """What the instances of one template have in common, as ``lib::Vec<...>::push/1`` for ``lib::Vec<int>::push(int)``.

    Overloads are told apart by how many parameters they have. Empty for what is no instance.
    """
    text = demangle(name.spelling)
    if "<" not in text:
        return ""
    qualified = entity(text)
    erased = without_arguments(qualified)
    if erased == qualified:
        return ""
    if name.kind not in ("function", "variable"):
        return erased
    tail = text.partition(qualified)[2]
    return f"{erased}/{parameter_count(tail)} {tail.rpartition(')')[2]} {variant(name.spelling)}"


def variant(symbol: str) -> str:
    """What tells a symbol from others that are demangled to the same: ``C2``, or ``Thn16_`` and ``D0``."""
    head, found = HEAD.match(symbol), _code(symbol)
    end = 0 if head is None else head.start("nested") if head["nested"] else head.end()
    return symbol[:end] + (found[0] if found else "")


def _code(symbol: str) -> re.Match[str] | None:
    """Where a symbol says which variant of a constructor or destructor it is: with another code it is called the same.

    The same letters within an identifier are part of its name.
    """
    for found in reversed(list(_CODE.finditer(symbol)) if is_mangled(symbol) else ()):
        other = found[0][:-1] + ("1" if found[0].endswith("2") else "2")
        if demangle(f"{symbol[: found.start()]}{other}{symbol[found.end() :]}") == demangle(symbol):
            return found
    return None
