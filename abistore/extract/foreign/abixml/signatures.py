"""The parameters and results of functions and function types of an ABIXML corpus."""

from __future__ import annotations

from typing import Protocol

from abistore.extract.foreign.abixml.document import Element
from abistore.extract.foreign.gathering import as_parameter
from abistore.model.shapes import VOID, TypeRef


class AbixmlTypeSource(Protocol):
    """The types of a document, for those who read what is made of them."""

    elements: dict[str, Element]

    def of(self, element: Element) -> TypeRef:
        """What an element's ``type-id`` refers to."""


def signature(types: AbixmlTypeSource, element: Element) -> tuple[tuple[TypeRef, ...], bool, TypeRef | None]:
    """The parameters of a function, whether more may follow, and the type of ``this``."""
    parameters: list[TypeRef] = []
    variadic, this = False, None
    for each in element.children("parameter"):
        if each.says("is-variadic"):
            variadic = True
        elif each.says("is-artificial"):
            this = types.of(each) if this is None and not parameters else this
        else:
            parameters.append(as_parameter(types.of(each)))
    return tuple(parameters), variadic, this


def result(types: AbixmlTypeSource, element: Element) -> TypeRef:
    """What a function returns."""
    return next((types.of(each) for each in element.children("return")), VOID)
