"""Templates and concepts: their parameters and constraints, and signatures that no parameter's name is part of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, Type
from abistore.extract.headers.walk.shapes.names import Names, by_position, in_own_words
from abistore.extract.headers.walk.written.tokens import SourceText, after, spelled, tokens
from abistore.model.declared import Argument
from abistore.model.shapes import Special, TypeRef

WORD: Final = re.compile(r"(?<!::)\b[A-Za-z_]\w*")
REQUIRES: Final = re.compile(rb"\brequires\b")


class Templates:
    """Reads what stands in angle brackets, and what depends on it."""

    def __init__(self, lib: LibClang, names: Names, text: SourceText) -> None:
        self._lib = lib
        self._names = names
        self._text = text

    def parameters(self, children: Sequence[Cursor]) -> tuple[Argument, ...]:
        """The parameters as they are written, each with its default."""
        found = []
        for each in children:
            if each.kind in kinds.TEMPLATE_PARAMETERS:
                text = self._text.of(each)
                default = after(text, "=")
                head = text[: len(text) - len(default)].rstrip()
                head = head.removesuffix(b"=") if default else head
                found.append(Argument(spelled(head), spelled(default) or None))
        return tuple(found)

    def requires(self, template: Cursor, children: Sequence[Cursor]) -> str | None:
        """The constraints: those behind the parameters, and those behind a function."""
        file, begin, end = self._text.extent(template)
        if REQUIRES.search(self._text.between(file, begin, end)) is None:
            return None
        found = [each for each in children if kinds.is_expression(each.kind) and self._is_required(each, file, begin)]
        written = [spelled(self._text.of(each)) for each in found]
        return " && ".join(each for each in written if each) or None

    def _is_required(self, expression: Cursor, file: int | None, begin: int) -> bool:
        """Whether ``requires`` stands before an expression; constructors have others, with which members begin."""
        own, place, _ = self._text.extent(expression)
        return own == file and tokens(self._text.between(file, begin, place))[-1:] == ["requires"]

    def condition(self, concept: Cursor) -> str | None:
        """What a concept asks for."""
        return spelled(after(self._text.of(concept), "=")) or None

    def values(self, children: Sequence[Cursor]) -> dict[str, str]:
        """What stands in a signature for the parameters that are values, which libclang spells by name."""
        parameters = [each for each in children if each.kind in kinds.TEMPLATE_PARAMETERS]
        pairs = [(self._lib.spelling(each), f"#{place}") for place, each in enumerate(parameters)]
        return {
            name: pairs[place][1]
            for place, (name, _) in enumerate(pairs)
            if parameters[place].kind == kinds.VALUE_PARAMETER
        }

    def type(self, type: Type, values: Mapping[str, str]) -> TypeRef:
        """A type that depends on template parameters, which are numbered: ``const #0&``."""
        lib = self._lib
        found = lib.type_name(lib.getCanonicalType(type))
        text = by_position(in_own_words(found, lib.type_name(type), values) if values else found)
        return Special(WORD.sub(lambda word: values.get(word[0], word[0]), text) if values else text)

    def signature(self, function: Cursor, parameters: Sequence[TypeRef], template: Sequence[Argument]) -> str:
        """The name of a function template, or of a function of a class template: it has no mangled one."""
        listed = ", ".join(each.spelling if isinstance(each, Special) else str(each) for each in parameters)
        parameters_of = ", ".join(introduced(each.name) for each in template)
        name = self._names.of(function)
        return f"{name}{f'<{parameters_of}>' if template else ''}({listed})"


def introduced(parameter: str) -> str:
    """A template parameter without its name: ``typename`` of ``class T``."""
    words = tokens(parameter.encode())
    if len(words) > 1 and words[-1].isidentifier():
        words = words[:-1]
    return spelled(" ".join("typename" if each == "class" else each for each in words).encode())
