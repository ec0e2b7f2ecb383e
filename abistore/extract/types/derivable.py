"""Whether anybody can derive from a class, as its constructors and destructor tell."""

from __future__ import annotations

from typing import Final

from abistore.model.shapes import Access

PUBLIC: Final[frozenset[Access]] = frozenset({"public"})
OPEN: Final[frozenset[Access]] = PUBLIC | {"protected"}
"""The access of members that programs can use: those of a class from which they can derive."""


class Derivability:
    """Whether programs can have a class of their own that derives from one.

    Nobody can construct an object of it where no constructor is left: all that are declared are private or deleted, and
    among them is one that copies, or else the compiler makes a public one.
    """

    def __init__(self) -> None:
        self._destroyed = True
        self._made = self._copied = False

    def add(self, usable: bool, *, destroys: bool, copies: bool) -> None:
        """Take note of a constructor or destructor that derived classes can use or not."""
        if destroys:
            self._destroyed &= usable
        else:
            self._made |= usable
            self._copied |= copies

    def __bool__(self) -> bool:
        return self._destroyed and (self._made or not self._copied)
