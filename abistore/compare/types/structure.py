"""How types are made of other types: pointers of what they point to, arrays of elements."""

from __future__ import annotations

from msgspec.structs import replace

from abistore.model.shapes import VOID, Array, MemberPointer, Pointer, Procedure, Qualified, TypeRef


def inner(type: TypeRef) -> tuple[TypeRef, ...]:
    """The types that ``type`` is made of; none where it has a name, or is spelled out in place."""
    match type:
        case Pointer(target=target) | Qualified(target=target):
            return (target,)
        case Array(element=element):
            return (element,)
        case MemberPointer(owner=owner, target=target):
            return owner, target
        case Procedure(result=result, parameters=parameters):
            return result, *parameters
        case _:
            return ()


def frame(type: TypeRef) -> TypeRef:
    """``type`` without what it is made of: two types of one frame differ in nothing but that."""
    match type:
        case Pointer() | Qualified():
            return replace(type, target=VOID)
        case Array():
            return replace(type, element=VOID)
        case MemberPointer():
            return MemberPointer(VOID, VOID)
        case Procedure():
            return Procedure(VOID, (VOID,) * len(type.parameters), type.variadic)
        case _:
            return type
