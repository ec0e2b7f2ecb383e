"""Functions and what headers tell of declarations, written as a C or C++ programmer writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from abistore.model.cpp_names.declarators import declare, listed, spell
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Argument, Declared, InlineBody
from abistore.model.names import Name
from abistore.model.shapes import Array, Function, Method, Pointer, TypeRef

UNWRITTEN: Final = frozenset({"befriends", "defined", "defined_within", "template", "undefined"})
"""Traits that no word before a declaration says."""


def declared_text(name: Name, shape: Declared) -> str:
    """What a header alone tells of a declaration, in words before its name and behind it."""
    words = list(_words(shape))
    written = ", ".join(map(argument, shape.parameters))
    value = f" = {shape.value}" if shape.value is not None else ""
    value += f" /* {shape.meaning.value} */" if shape.meaning is not None else ""
    members = ", ".join(f"{member} = {expression}" for member, expression in shape.expressions)
    inside = f" {{ {members} }}" if members else _body(shape.body)
    called = demangle(name.spelling) if name.kind == "variable" else name.spelling
    return " ".join([*words, f"{called}{f'({written})' if shape.parameters else ''}{value}{inside};"])


def _words(shape: Declared) -> Iterator[str]:
    """What stands before the name of a declaration."""
    if shape.availability:
        yield f"availability({', '.join(shape.availability)})"
    copied = "constant" in shape.traits  # a constant that each program has is not thereby written ``inline``
    written = (each for each in shape.traits if each not in UNWRITTEN and not (copied and each == "inline"))
    yield from (each.replace("_", " ") for each in written)
    if "template" in shape.traits or shape.template:
        yield template_head(shape)
    if shape.requires is not None:
        yield f"requires {shape.requires}"


def prototype(function: Function, told: Declared, *, c: bool) -> str:
    """``inline int draw(int count = 1) noexcept { /* digest */ };``, of what a header tells and of the types."""
    words = [each for each in _words(told) if each != "noexcept"]
    parameters = [_argument(*each) for each in zip(function.parameters, told.parameters, strict=True)]
    text = function_text(function, c=c, parameters=parameters).removesuffix(";")
    behind = " noexcept" if "noexcept" in told.traits else ""
    return f"{' '.join([*words, text])}{behind}{_body(told.body)};"


def _argument(type: TypeRef, told: Argument) -> str:
    if told.length and isinstance(type, Pointer):
        type = Array(type.target, told.length)
    text = declare(type, told.name) if told.name else spell(type)
    return text if told.default is None else f"{text} = {told.default}"


def template_head(shape: Declared) -> str:
    """What stands before a template: ``template <typename T, int N = 4>``."""
    return f"template <{', '.join(map(argument, shape.template))}>"


def _body(body: InlineBody | None) -> str:
    """What an inline body uses, and its digest: its text is not kept."""
    if body is None:
        return ""
    used = ", ".join([*body.members, *body.calls])
    return f" {{ {used + ' ' if used else ''}/* {body.digest} */ }}"


def argument(shape: Argument) -> str:
    """A parameter as a header writes it, without its type: ``count = 1``."""
    named = shape.name or "(unnamed)"
    return named if shape.default is None else f"{named} = {shape.default}"


def signature(shape: Function, *, c: bool = False, parameters: Sequence[str] | None = None) -> str:
    """A function as it is declared, without what stands before its result and behind its qualifiers.

    Constructors, destructors and conversions have no result. A prototype without parameters is ``f(void)`` in C, where
    ``f()`` leaves them open. ``parameters`` are spelled already, with their names.
    """
    inside = listed(map(spell, shape.parameters) if parameters is None else parameters, shape.variadic)
    if c and shape.prototyped:
        inside = inside or "void"
    text = f"{shape.display}({inside})"
    method = shape.method
    if method is None:
        return declare(shape.result, text)
    text = " ".join([text, *method.qualifiers, *([method.reference] if method.reference else [])])
    last = last_component(shape.display)
    bare = last.startswith("~") or last == last_component(method.owner.spelling) or _converts(shape.display)
    return text if bare else declare(shape.result, text)


def function_text(shape: Function, *, c: bool, parameters: Sequence[str] | None = None) -> str:
    """A function as it is declared."""
    text = signature(shape, c=c, parameters=parameters)
    marks = ["[[noreturn]]"] if shape.noreturn else []
    if shape.calling_convention and not shape.calling_convention.startswith("-"):  # options are nothing to write
        marks.append(f"__attribute__(({shape.calling_convention}))")
    if shape.method is not None:
        text = _member(text, shape.method)
    return " ".join([*marks, f"{text};"])


def _converts(display: str) -> bool:
    return "operator " in display and not display.endswith(
        ("operator new", "operator new[]", "operator delete", "operator delete[]", "operator co_await")
    )


def _member(text: str, method: Method) -> str:
    before = [
        *(["static"] if method.static else []),
        *(["virtual"] if method.virtual != "no" else []),
        *(["explicit"] if method.explicit else []),
    ]
    end = {"pure": " = 0"}.get(method.virtual, "")
    end += " = delete" if method.deleted else " = default" if method.defaulted else ""
    return " ".join([*before, text]) + end
