"""Other ways to make a change: what maintainers do where the first thing that they thought of breaks consumers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from abistore.compare.whatif.edited import HeaderEdit
from abistore.compare.whatif.proposal import Proposal, with_shape
from abistore.compare.whatif.records import appended, placed
from abistore.model.cpp_names.demangle import demangle
from abistore.model.declared import Declared
from abistore.model.layout.layouts import Layouts
from abistore.model.names import Name
from abistore.model.shapes import Enum, Enumerator, Field, Function, Record, VirtualMethod
from abistore.model.snapshot import Snapshot, Variants, only_described


def proposals(declared: Snapshot, edit: HeaderEdit) -> Iterator[Proposal]:
    """Other ways to make each change of ``edit``, in the order in which they should be tried.

    Whether one breaks is for the caller to judge.
    """
    layouts = Layouts(declared)
    for name in edit.names:
        before, after = declared.variants("source", name) or edit.before.get(name, ()), edit.after.get(name, ())
        old, new = only_described(before), only_described(after)
        if isinstance(old, Record) and isinstance(new, Record):
            yield from _of_record(name, (before, old), new, layouts)
        elif isinstance(old, Enum) and isinstance(new, Enum):
            yield from _of_enum(name, (before, old), new)
        elif isinstance(old, Function) and name.kind == "function":
            yield from _of_function(name, before, edit)
        elif before and not after:
            yield Proposal(name, f"keep {name.spelling}, and mark it deprecated", {name: _deprecated(before)})


# --- records ------------------------------------------------------------------------------------------------------


def _of_record(name: Name, old: tuple[Variants, Record], new: Record, layouts: Layouts) -> Iterator[Proposal]:
    variants, record = old
    added = _added(record, new)
    if added:
        listed, kept = _listed(added), _kept(record, new)
        inside, behind = placed(record, added, layouts), appended(record, added, layouts)
        if inside is not None:
            yield Proposal(name, _where(record, inside, listed) + kept, {name: with_shape(variants, inside)})
        if behind is not None and behind != inside:
            title = f"append {listed} behind the other members{kept}"
            yield Proposal(name, title, {name: with_shape(variants, behind)})
    elif gone := _gone(record, new):
        title = f"keep {_listed(gone)} under another name, which nobody uses"
        fields = tuple(replace(each, name=f"_reserved_{each.name}") if each in gone else each for each in record.fields)
        yield Proposal(name, title, {name: with_shape(variants, replace(record, fields=fields))})
    came = [each for each in new.virtuals if all(each.display != one.display for one in record.virtuals)]
    if came:
        last = replace(record, virtuals=(*record.virtuals, *_in_slots(record, came)))
        title = f"declare {', '.join(each.display for each in came)} behind the other virtual functions"
        yield Proposal(name, title, {name: with_shape(variants, last)})


def _added(record: Record, new: Record) -> list[Field]:
    """The fields that an edit brings: those of a new name, and under another name those that got another type."""
    before = {field.name: field for field in record.fields}
    found = []
    for field in new.fields:
        if field.name not in before:
            found.append(field)
        elif field.type != before[field.name].type:
            found.append(replace(field, name=f"{field.name}2"))
    return [field for field in found if field.name]


def _gone(record: Record, new: Record) -> list[Field]:
    names = {field.name for field in new.fields}
    return [field for field in record.fields if field.name not in names]


def _kept(record: Record, new: Record) -> str:
    """What a title says of the fields that the edit would have taken away, or given another type."""
    after = {field.name: field.type for field in new.fields}
    kept = [field.name for field in record.fields if field.name and after.get(field.name) != field.type]
    return f", and keep {', '.join(kept)} as it is" if len(kept) == 1 else f", and keep {', '.join(kept)}" * bool(kept)


def _where(old: Record, new: Record, listed: str) -> str:
    before = {field.name: field for field in old.fields}
    offsets = ", ".join(str(field.offset // 8) for field in new.fields if field.name not in before)
    cut = [field.name for field in old.fields if field not in new.fields]
    room = f"the reserved field {', '.join(cut)}" if cut else "the padding"
    return f"put {listed} into {room}, at offset {offsets}"


def _listed(fields: Sequence[Field]) -> str:
    return ", ".join(field.name for field in fields)


def _in_slots(record: Record, added: Sequence[VirtualMethod]) -> Sequence[VirtualMethod]:
    """The virtual functions in the slots behind those of ``record``."""
    slots = [each.slot for each in record.virtuals if each.slot is not None]
    first = max(slots) + 1 if slots else None
    return [replace(each, slot=None if first is None else first + number) for number, each in enumerate(added)]


# --- enumerations and functions --------------------------------------------------------------------------------------


def _of_enum(name: Name, old: tuple[Variants, Enum], new: Enum) -> Iterator[Proposal]:
    variants, enum = old
    known = {each.name for each in enum.enumerators}
    added = [each.name for each in new.enumerators if each.name not in known]
    kept = {each.name for each in enum.enumerators} - {each.name for each in new.enumerators}
    following = max((each.value for each in enum.enumerators), default=-1) + 1
    values = tuple(Enumerator(each, following + number) for number, each in enumerate(added))
    found = replace(enum, enumerators=(*enum.enumerators, *values))
    said = [f"{each.name} = {each.value}" for each in values]
    title = f"append {', '.join(said)} behind the other enumerators" if said else "keep the old values"
    if kept:
        title += f", and keep {', '.join(sorted(kept))}"
    if found != new:
        yield Proposal(name, title, {name: with_shape(variants, found)})


def _of_function(name: Name, before: Variants, edit: HeaderEdit) -> Iterator[Proposal]:
    """What keeps a function that an edit takes away, or gives another signature."""
    function = only_described(before)
    assert isinstance(function, Function)
    after = edit.after.get(name, ())
    changed = only_described(after)
    overloads = {
        each: edit.after[each] for each in edit.names if each not in edit.before and _is_called(edit, each, function)
    }
    if isinstance(changed, Function):
        second = Name("function", f"{name.spelling}2")
        title = f"keep {function.display} as it is, and add {function.display}2"
        yield Proposal(name, title, {second: with_shape(after, replace(changed, display=f"{function.display}2"))})
    elif overloads:
        beside = ", ".join(demangle(each.spelling) for each in overloads)
        title = f"keep {demangle(name.spelling)}, and add {beside} beside it"
        yield Proposal(name, title, overloads)
    elif not after:
        yield Proposal(name, f"keep {function.display}, and mark it deprecated", {name: _deprecated(before)})


def _is_called(edit: HeaderEdit, name: Name, function: Function) -> bool:
    """Whether an edit declares ``name`` as another overload of ``function``."""
    shape = only_described(edit.after.get(name, ()))
    return isinstance(shape, Function) and shape.display == function.display


def _deprecated(variants: Variants) -> Variants:
    """The same declaration, marked deprecated."""
    text = next((each for each in variants if isinstance(each, Declared)), Declared())
    marked = replace(text, traits=tuple(sorted({*text.traits, "deprecated"})))
    return (marked, *(each for each in variants if not isinstance(each, Declared)))
