"""The arguments of template instances: as type references, and in the spelling of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, Type
from abistore.model.cpp_names.declarators import spell
from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.qualified import plain_template
from abistore.model.shapes import Special, TypeRef

INTEGER: Final = 4
PACK: Final = 8


class TemplateArguments:
    """Reads the arguments of template instances; ``reference`` gives those of types."""

    def __init__(self, lib: LibClang, reference: Callable[[Type], TypeRef]) -> None:
        self._lib = lib
        self._reference = reference
        self._parameters: dict[int, list[Cursor]] = {}

    def spelled(self, cursor: Cursor, type: Type) -> str | None:
        """The arguments of a class with their brackets; ``None`` where it is no template instance."""
        if self._lib.Type_getNumTemplateArguments(type) < 0:
            return None
        return f"<{', '.join([_spelled(each) for each in self._of(cursor, type)])}>"

    def references(self, cursor: Cursor, type: Type) -> tuple[TypeRef, ...]:
        """The arguments of a class as :class:`Record` has them: a value as its spelling."""
        if self._lib.Type_getNumTemplateArguments(type) < 0:
            return ()
        found = self._of(cursor, type)
        return tuple([Special(_value(each)) if isinstance(each, str) else each for each in found])

    def _of(self, cursor: Cursor, type: Type) -> Iterator[TypeRef | str]:
        """Each argument: a type, or a value in the normal form of ``T<value>``."""
        lib = self._lib
        written: list[str] | None = None
        packed = any(
            lib.Cursor_getTemplateArgumentKind(cursor, index) == PACK
            for index in range(lib.Cursor_getNumTemplateArguments(cursor))
        )
        for index in range(lib.Type_getNumTemplateArguments(type)):
            argument = lib.Type_getTemplateArgumentAsType(type, index)
            if argument.kind != kinds.INVALID:
                yield self._reference(lib.getCanonicalType(argument))
            elif not packed and lib.Cursor_getTemplateArgumentKind(cursor, index) == INTEGER:
                yield self._integer(cursor, index)
            else:
                if written is None:
                    written = self._written(cursor)
                yield normal_name(f"T<{written[index]}>")[2:-1] if index < len(written) else "value"

    def _integer(self, cursor: Cursor, index: int) -> str:
        """An integer or enumerator; the parameter of the template tells its type."""
        lib = self._lib
        type = self._type_of_parameter(cursor, index)
        value = lib.Cursor_getTemplateArgumentValue(cursor, index)
        if type is None or type.kind in (kinds.UNEXPOSED, kinds.AUTO):
            return str(value)
        integer = type
        if type.kind == kinds.ENUM_TYPE:
            integer = lib.getCanonicalType(lib.getEnumDeclIntegerType(lib.getTypeDeclaration(type)))
        if integer.kind in kinds.UNSIGNED:
            value = lib.Cursor_getTemplateArgumentUnsignedValue(cursor, index)
        return normal_name(f"T<({spell(self._reference(lib.getUnqualifiedType(type)))}){value}>")[2:-1]

    def _type_of_parameter(self, cursor: Cursor, index: int) -> Type | None:
        lib = self._lib
        template = lib.getSpecializedCursorTemplate(cursor)
        while template.kind == kinds.PARTIAL_SPECIALIZATION:
            template = lib.getSpecializedCursorTemplate(template)
        if not template.d0:
            return None
        if template.d0 not in self._parameters:
            children = lib.children(template)
            self._parameters[template.d0] = [each for each in children if each.kind in kinds.TEMPLATE_PARAMETERS]
        parameters = self._parameters[template.d0]
        if index >= len(parameters) or parameters[index].kind != kinds.VALUE_PARAMETER:
            return None
        found: Type = lib.getCanonicalType(lib.getCursorType(parameters[index]))
        return found

    def _written(self, cursor: Cursor) -> list[str]:
        """The arguments as libclang spells them, for values that it does not tell otherwise."""
        found = plain_template(self._lib.text(self._lib.getCursorDisplayName(cursor)))
        return [] if found is None else found[1]


def _spelled(argument: TypeRef | str) -> str:
    return argument if isinstance(argument, str) else spell(argument)


def _value(spelled: str) -> str:
    """A value without the cast that tells an enumeration: ``1`` of ``(geo::Color)1``, as debug information has it."""
    return spelled.rpartition(")")[2] if spelled.startswith("(") and spelled[-1:].isdigit() else spelled
