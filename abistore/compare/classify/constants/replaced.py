"""Macros that stand for no value: how they are called, what takes their place, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.declared import Declared, Replacement
from abistore.model.deltas import Changed
from abistore.model.mangling.symbols import c_name
from abistore.model.names import TYPES, Name
from abistore.model.shapes import Function
from abistore.model.snapshot import MACROS, HeadersRead
from abistore.model.values.texts import words
from abistore.patterns import pattern

OBJECT_LIKE: Final = "no list of parameters"

_INTERNAL: Final = pattern(
    r"(?i)(?:^|_)(?:impl|detail|details|internal|priv|private|helper|helpers|aux|tmp|concat|cat|paste|stringify|str|xstr)"
    r"(?:_|\d*$)|^_|\d_$|_$"
)
"""How macros are called that only other macros should use."""

_SWITCH: Final = pattern(
    r"(?i)(?:^|_)(?:has|have|use|uses|using|with|without|no|enable|enabled|disable|disabled|support|supports|supported"
    r"|build|config|configured|defined|available|needs?|want|platform|os|arch|compiler|cxx\d*|cpp\d*)(?:_|$)"
)
"""How empty macros are called that programs only ask for."""

_ANNOTATION: Final = pattern(
    r"(?i)(?:^|_)(?:api|export|exports|exported|import|public|extern|externc?|dll\w*|visibility|visible|deprecated\w*|hidden"
    r"|inline|forceinline|noinline|attr|attribute|attributes|nonnull|restrict|nothrow|noexcept|noreturn|nodiscard|unused"
    r"|constexpr|pragma|diagnostic)(?:_|$)|(?:API|EXPORT|EXTERN|INLINE|apicall|decl|decls)$"
)
"""How annotations of declarations are called, which the library's own have and programs need not."""


def reads_macros(side: SideFacts) -> bool:
    """Whether the headers of a side were asked for such macros."""
    read = side.snapshot.provenance.headers
    return isinstance(read, HeadersRead) and MACROS in read.facts


def replacement(side: SideFacts, name: Name) -> Replacement | None:
    """What a macro of a side puts in its place."""
    found = (shape for shape in side.variants("source", name) if isinstance(shape, Declared))
    return next((each.replacement for each in found if each.replacement is not None), None)


def called(macro: Replacement) -> str:
    """How many arguments a macro takes, in words."""
    if macro.parameters is None:
        return OBJECT_LIKE
    plural = "" if macro.parameters == 1 else "s"
    return f"{macro.parameters} parameter{plural}{' and more' if macro.variadic else ''}"


def accepts(new: Replacement, old: Replacement) -> bool:
    """Whether a macro can be used with all the arguments that another one took."""
    if old.parameters is None or new.parameters is None:
        return old.parameters == new.parameters
    if old.variadic and not new.variadic:
        return False
    return new.parameters <= old.parameters if new.variadic else new.parameters == old.parameters


def is_told_as_macro(declared: Changed[Declared]) -> bool:
    """Whether a constant that is another macro now, or was one, differs in how it is used, and not in its value.

    What stood for a number stands for none now, which is told of the constant.
    """
    old, new = declared.old.replacement, declared.new.replacement
    if old is None and new is None:
        return False
    if any(each is not None and each.parameters is not None for each in (old, new)):
        return True
    return bool(words(declared.old.value or declared.new.value or ""))


def takes_arguments(value: str | None, old: Replacement, context: Context) -> bool:
    """Whether a macro without parameters is the name of what can be called as the macro with parameters was."""
    return value is not None and value.isidentifier() and has_callable(Name("variable", value), old, context.new)


def has_callable(name: Name, macro: Replacement, side: SideFacts) -> bool:
    """Whether the headers of a side have what can stand where a macro stood: a function, a type, a constant."""
    if any(side.variants("source", Name(kind, name.spelling)) for kind in TYPES):
        return True
    if macro.parameters is None:
        return name in side.enumerators or bool(side.variants("source", Name("function", name.spelling)))
    other = replacement(side, name)
    if other is not None and accepts(other, macro):
        return True
    return any(low <= macro.parameters <= high for low, high in _takes(name.spelling, side))


def _takes(spelling: str, side: SideFacts) -> Iterator[tuple[int, float]]:
    """The fewest and the most arguments of functions of the global namespace that are called so."""
    for each in side.overload_sets.get(Name("function", spelling), ()):
        yield each.required, float("inf") if each.function.variadic else len(each.function.parameters)
    for shape in side.variants("source", Name("function", spelling)):
        if isinstance(shape, Function):
            yield len(shape.parameters), float("inf") if shape.variadic else len(shape.parameters)
        elif isinstance(shape, Declared) and shape.template:
            yield sum(each.default is None for each in shape.parameters), len(shape.parameters)


def macro_for(function: Name, context: Context) -> Replacement | None:
    """The macro that is called in place of a function which headers declare no more."""
    if function.kind != "function":
        return None
    macro = replacement(context.new, Name("variable", c_name(function.spelling)))
    if macro is None or macro.parameters is None or not reads_macros(context.old):
        return None
    shape = next((each for each in context.old.variants("source", function) if isinstance(each, Function)), None)
    taken = len(shape.parameters) if shape else -1
    fits = taken >= macro.parameters if macro.variadic else taken == macro.parameters
    return macro if fits else None


def is_own(name: Name, macro: Replacement) -> bool:
    """Whether headers define a macro for themselves first, so that programs may have no use for it.

    They write it in their own declarations; or other macros use it, and its name says so; or it is empty, and they or
    its name ask whether it is defined. An annotation of declarations says so by its name.
    """
    spelling = name.spelling
    if "declaration" in macro.used or _ANNOTATION.search(spelling):
        return True
    if "macro" in macro.used and _INTERNAL.search(spelling):
        return True
    is_empty = macro.parameters is None and not macro.digest
    return is_empty and ("asked" in macro.used or _SWITCH.search(spelling) is not None)
