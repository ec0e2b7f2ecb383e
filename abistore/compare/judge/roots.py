"""What of a comparison follows from a finding about the whole library, as where what its interface is made of moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from abistore.compare.context import Context
from abistore.compare.diff.parts import TagFlip, ToolkitMove
from abistore.compare.rule import RULES
from abistore.model.deltas import Changed, Delta
from abistore.model.findings import Finding
from abistore.model.names import SELF, Name
from abistore.model.references import embedded

Follows: TypeAlias = Callable[[Finding, Context], bool]

ROOTED: Final = (TagFlip, ToolkitMove)
"""The shapes of what many declarations follow from."""


OF_LAYOUT: Final = frozenset({"alignment", "place", "size", "slot"})
"""The effects that follow from what an object has in it."""


def has_root(delta: Delta[Any]) -> bool:
    """Whether findings about declarations may belong under what is found of ``delta``."""
    return isinstance(delta, Changed) and isinstance(delta.old, ROOTED)


def _follows_from_toolkit(finding: Finding, context: Context) -> bool:
    """Whether a finding is about a library that moved, about one of its classes, or about a use of such a class.

    A use differs by what the classes are called, or lies otherwise where an object has one of these in it.
    """
    from abistore.compare.diff.patterns.toolkits import TOOLKIT, Toolkit  # few libraries need others than before

    toolkit = context.once(Toolkit)
    if finding.name == SELF:
        return finding.part.endswith((*toolkit.before, *toolkit.after))
    if toolkit.defines(finding.name):
        return True
    if RULES[finding.kind].effect in OF_LAYOUT and any(map(toolkit.defines, _within(finding.name, context))):
        return True
    old, new = (
        toolkit.without_names(text or "", old=is_old)
        for text, is_old in ((finding.old_value, True), (finding.new_value, False))
    )
    return old == new and TOOLKIT in old


def _within(name: Name, context: Context) -> frozenset[Name]:
    """The base classes of a class of the old release and the types of its fields, and theirs."""
    pending, found = [name], set[Name]()
    while pending:
        shape = context.old.shape(pending.pop())
        come = {*embedded(shape)} - found if shape is not None else set[Name]()
        found |= come
        pending += come
    return frozenset(found)


def _follows_from_strings(finding: Finding, context: Context) -> bool:
    """Whether what differs is called alike but for the mark of the standard library's newer strings and lists."""
    old, new = map(_unmarked, (finding.old_value or "", finding.new_value or ""))
    return old == new and "std::" in old


def _unmarked(text: str) -> str:
    return text.replace("__cxx11::", "").replace("[abi:cxx11]", "")


FOLLOWS: Final[Mapping[str, Follows]] = {
    "glibcxx_dual_abi_flip_detected": _follows_from_strings,
    "needed_added.toolkit": _follows_from_toolkit,
}
"""By the kinds of such findings, whether another finding follows from one."""
