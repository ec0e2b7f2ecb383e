"""How shapes and type references become flat rows that mention each other by number, and rows become them again."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import astuple

from abistore.errors import SnapshotError
from abistore.model import shapes
from abistore.model.budget import TypeBudget
from abistore.model.names import Name

TYPE_CLASSES: Final[tuple[type[shapes.Node], ...]] = typing.get_args(shapes.TypeRef)
SHAPE_CLASSES: Final[tuple[type[shapes.Shape], ...]] = typing.get_args(shapes.AnyShape)

MAX_DEPTH: Final = 200
"""How deep a type may nest in itself (``int***``): no real declaration comes near, and recursion over it stays safe."""

MAX_ROW_DEPTH: Final = 16
"""How deep anonymous records may nest in a row."""

Form: TypeAlias = Literal["type", "name", "row", "tagged row"]


class Slot(msgspec.Struct, frozen=True):
    """One field of a struct that cannot be written as it is: ``many`` of ``form`` or one, at ``index``."""

    index: int
    form: Form
    many: bool
    struct: type[msgspec.Struct] | None = None


class Plan(msgspec.Struct, frozen=True):
    """How one struct class is written: its tag, which fields are references, which trailing ones may be left out."""

    tag: str | None
    width: int
    required: int
    defaults: tuple[Any, ...]
    slots: tuple[Slot, ...]


@cache
def plan(struct: type[msgspec.Struct]) -> Plan:
    """The plan of a struct class, derived from its annotations."""
    hints = typing.get_type_hints(struct, vars(shapes))
    fields = struct.__struct_fields__
    found = ((index, _form(hints[field])) for index, field in enumerate(fields))
    slots = tuple(Slot(index, *form) for index, form in found if form is not None)
    defaults = struct.__struct_defaults__
    tag = struct.__struct_config__.tag
    assert tag is None or isinstance(tag, str)
    return Plan(tag, len(fields), len(fields) - len(defaults), defaults, slots)


def _form(hint: Any) -> tuple[Form, bool, type[msgspec.Struct] | None] | None:
    """What a field's annotation asks for: the form, whether it is a tuple of them, and the struct of a row."""
    if hint == shapes.TypeRef:
        return "type", False, None
    if hint is Name:
        return "name", False, None
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return "row", False, hint
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        inner = _form(arguments[0])
        return inner and (inner[0], True, inner[2])
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        members = tuple(member for member in arguments if member is not type(None))
        if set(members) == set(TYPE_CLASSES):
            return "type", False, None
        if all(isinstance(member, type) and issubclass(member, shapes.Shape) for member in members):
            return "tagged row", False, None
        return _form(members[0]) if len(members) == 1 else None
    return None


_Steps: TypeAlias = tuple[tuple[str, ...], tuple[Any, ...], list[tuple[int, bool, Callable[[Any], Any]]]]
"""How rows of one class are written: the tag, the defaults from the last on, what is written in place of a value."""


class RowWriter:
    """Turns structs into rows; ``type_number`` and ``name_number`` say what number a reference has."""

    def __init__(self, type_number: Callable[[Any], int], name_number: Callable[[Name], int]) -> None:
        self._write: dict[Form, Callable[[Any], Any]] = {
            "type": type_number,
            "name": name_number,
            "row": self.row,
            "tagged row": self.row,
        }
        self._steps: dict[type[msgspec.Struct], _Steps] = {}

    def row(self, struct: msgspec.Struct) -> list[Any]:
        """``struct`` as a list: its tag if it has one, then its fields up to the last that is not its default."""
        steps = self._steps.get(type(struct))
        if steps is None:
            steps = self._steps[type(struct)] = self._steps_of(plan(type(struct)))
        tag, defaults, slots = steps
        values = [*tag, *astuple(struct)]
        for default in defaults:
            if values[-1] != default:
                break
            values.pop()
        width = len(values)
        for index, many, write in slots:
            if index < width and (value := values[index]) is not None:
                values[index] = list(map(write, value)) if many else write(value)
        return values

    def _steps_of(self, form: Plan) -> _Steps:
        tag = () if form.tag is None else (form.tag,)
        slots = [(len(tag) + slot.index, slot.many, self._write[slot.form]) for slot in form.slots]
        return tag, form.defaults[::-1], slots


class RowReader:
    """Turns rows into structs. ``names`` is the table of names; that of types grows with :meth:`add_type`."""

    def __init__(self, names: Sequence[Name]) -> None:
        self._names = names
        self._types: list[shapes.TypeRef] = []
        self.budget = TypeBudget()

    def shape(self, row: list[Any]) -> shapes.AnyShape:
        """The shape of a tagged row; raises :class:`SnapshotError` or msgspec's ``ValidationError``."""
        return msgspec.convert(self._tagged(row, SHAPE_CLASSES, 0), shapes.AnyShape)  # type: ignore[no-any-return]

    def add_type(self, row: list[Any]) -> shapes.TypeRef:
        """Read the next row of the table of types; raises :class:`SnapshotError` or msgspec's ``ValidationError``.

        What is too large is replaced: see :class:`abistore.model.budget.TypeBudget`.
        """
        found = msgspec.convert(self._tagged(row, TYPE_CLASSES, 0), shapes.TypeRef)
        self._types.append(self.budget.within(found))
        return self._types[-1]

    def _tagged(self, row: Any, classes: tuple[type[msgspec.Struct], ...], depth: int) -> list[Any]:
        struct = _by_tag(classes).get(row[0]) if isinstance(row, list) and row and isinstance(row[0], str) else None
        if struct is None:
            raise SnapshotError(f"not a known row: {str(row)[:60]}")
        return [row[0], *self._fields(row[1:], struct, depth)]

    def _fields(self, values: Any, struct: type[msgspec.Struct], depth: int) -> list[Any]:
        form = plan(struct)
        if not isinstance(values, list) or not form.required <= len(values) <= form.width or depth > MAX_ROW_DEPTH:
            raise SnapshotError(f"not the fields of a {struct.__name__}: {str(values)[:60]}")
        for slot in form.slots:
            if slot.index < len(values) and (value := values[slot.index]) is not None:
                if slot.many and not isinstance(value, list):
                    raise SnapshotError(f"not a list in a {struct.__name__}: {str(value)[:60]}")
                values[slot.index] = (
                    [self._read(item, slot, depth) for item in value] if slot.many else self._read(value, slot, depth)
                )
        return values

    def _read(self, value: Any, slot: Slot, depth: int) -> Any:
        if slot.form == "type":
            return resolve(self._types, value)
        if slot.form == "name":
            return resolve(self._names, value)
        if slot.form == "tagged row":
            return self._tagged(value, SHAPE_CLASSES, depth + 1)
        assert slot.struct is not None
        return self._fields(value, slot.struct, depth + 1)


def resolve(table: Sequence[Any], number: Any) -> Any:
    """What ``number`` stands for in ``table``; raises :class:`SnapshotError` where it points past the end."""
    if type(number) is not int or not 0 <= number < len(table):
        raise SnapshotError(f"a reference points nowhere: {str(number)[:60]}")
    return table[number]


@cache
def _by_tag(classes: tuple[type[msgspec.Struct], ...]) -> dict[str, type[msgspec.Struct]]:
    return {str(plan(struct).tag): struct for struct in classes}
