"""What consumers of one release can name, see and allocate: the one interface that comparing asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Literal, TypeAlias

import msgspec

from abistore.compare.consumers.export_table import ExportTable
from abistore.model.names import Name
from abistore.model.shapes import Function, Variable
from abistore.model.snapshot import Snapshot

Owner: TypeAlias = Literal["own", "foreign", "inline", "instantiation"]
"""Whose an export is, see :meth:`Consumers.owner`."""

Chance: TypeAlias = Literal["yes", "by cast", "no"]
"""Whether the library gets objects of consumers' own classes, see :meth:`Consumers.hand_in`."""

Concealment: TypeAlias = Literal["internal", "header", "undeclared"]
"""Why consumers cannot name an export, see :meth:`Consumers.concealment`."""


class ReleaseExports(msgspec.Struct, frozen=True):
    """A release and its export table."""

    snapshot: Snapshot
    exports: ExportTable


class Consumers(ABC):
    """The programs that were, or will be, built against one release.

    What they can do is guessed from debug information (:mod:`abistore.compare.consumers.guessed`), or told by the
    public headers (:mod:`abistore.compare.consumers.told`). Who compares asks this interface, and does not know which.
    """

    @abstractmethod
    def can_name(self, export: Name) -> bool:
        """Whether sources of consumers can use ``export``: a header that they can include declares it."""

    @abstractmethod
    def private_header(self, export: Name) -> str:
        """The header that declares ``export`` and is not installed; empty where none is known.

        Or the version node that says of itself that it is private.
        """

    def prove_private(self, name: Name) -> bool:
        """Whether it is known that no consumer was compiled with a type or export, as headers show all of it."""
        return False

    def out_of_reach(self, export: Name) -> bool:
        """Whether ``export`` is a private member, and no inline function is known that may use it for programs."""
        return False

    def lack_object(self, export: Name) -> bool:
        """Whether ``export`` is a method of a class of which programs can come by no object; no inline body uses it.

        Without headers nothing tells.
        """
        return False

    def cannot_call(self, export: Name) -> bool:
        """Whether ``export`` passes what programs do not know or never have, so that no call of theirs compiles.

        Without headers nothing tells.
        """
        return False

    @abstractmethod
    def concealment(self, export: Name) -> Concealment:
        """Why consumers cannot name ``export``.

        Its class is ``internal`` to source files; a private ``header`` declares it; or it is ``undeclared`` in the
        public headers, which are known.
        """

    @abstractmethod
    def owner(self, export: Name, other: ReleaseExports, *, gone: bool) -> Owner:
        """Whose ``export`` is, which the ``other`` release does not have; it is ``gone`` where that one is the later.

        ``own``: consumers find it in this library only. The others are C++ symbols, nearly all weak, which each unit
        that uses them may emit: ``foreign`` ones belong to the language runtime, to a namespace in which the library
        has no strong symbol, or to the inside of a library that exports C functions only; ``instantiation`` is a
        template's that is gone as a whole between equal toolchains, as an explicit one is that ``extern template``
        leaves to the library; ``inline`` is everything else.
        """

    @abstractmethod
    def can_see(self, type: Name) -> bool:
        """Whether consumers know what ``type`` is made of.

        They do not where the library allocates it and the file that defines it is a source file or a private header,
        nor where it is met only inside such types, or in fields whose name forbids to use them.
        """

    @abstractmethod
    def can_include(self, type: Name) -> bool:
        """Whether a header that consumers include defines ``type``, which no export mentions."""

    @abstractmethod
    def can_look_into(self, type: Name, fields: Collection[str]) -> bool:
        """Whether code that programs compile in may use one of these private ``fields`` of a class."""

    @abstractmethod
    def look_at(self, type: Name, field: str) -> bool:
        """Whether code that programs compile in is known to use this private ``field`` of a class."""

    @abstractmethod
    def offers(self, type: Name) -> bool:
        """Whether a header that was read defines ``type`` for consumers: they can use it without any export."""

    @abstractmethod
    def compilers_of(self, type: Name) -> Sequence[Name]:
        """The declarations whose code, which programs compile, has the layout of ``type``; sorted."""

    @abstractmethod
    def callers_of(self, export: Name) -> Sequence[Name]:
        """The declarations whose code, which programs compile, uses ``export``; sorted."""

    @abstractmethod
    def called_beside(self, type: Name) -> Sequence[Name]:
        """The exports that such code calls, and of which no header that was read tells what they take."""

    @abstractmethod
    def take_untyped(self) -> bool:
        """Whether consumers may hand the library objects of types that no signature tells, as ``void *``."""

    @abstractmethod
    def hand_in(self, type: Name) -> Chance:
        """Whether objects of classes that consumers derive from ``type`` get to the library, which calls them.

        ``by cast``: it gets objects of which it knows a base of ``type`` only, and may look what they are.
        """

    @abstractmethod
    def library_allocates(self, type: Name) -> bool:
        """Whether consumers hold pointers to ``type`` at most, and get them from the library.

        So it is where functions return such a pointer, or fill one in (``int open(handle **)``), and no export uses the
        type by value. Polymorphic classes never count: consumers may derive from them.
        """

    @abstractmethod
    def gets_arrays(self, type: Name) -> bool:
        """Whether the library hands out arrays of ``type``, through which consumers step by its size."""

    @abstractmethod
    def hold(self, type: Name) -> bool:
        """Whether consumers have objects of ``type``: an export takes, returns, is or embeds it by value."""

    @abstractmethod
    def hold_beyond_standard(self, type: Name) -> bool:
        """As :meth:`hold`, where functions of the standard library that were linked in do not count."""

    @abstractmethod
    def passed_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What goes by value and is or embeds ``type``, sorted.

        Function pointers, virtual methods, or exports that stay and that consumers can name, take or return it.
        """

    @abstractmethod
    def taken_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """The part of :meth:`passed_with` that is taken, and not only returned."""

    @abstractmethod
    def take_on(self, before: Consumers, changed: Collection[Name], resolving: Callable[[], Collection[Name]]) -> None:
        """Take what was worked out for the release before that holds here too.

        The releases differ in the ``changed`` names. ``resolving`` gives these and all that look through them when they
        resolve a type.
        """


def is_accessible(shape: object) -> bool:
    """Whether anybody but the class and its friends can use a declaration.

    A private virtual function is in the vtables of classes that consumers derive.
    """
    if isinstance(shape, Function) and shape.method is not None:
        return shape.method.access != "private" or shape.method.virtual != "no"
    return not isinstance(shape, Variable) or shape.access != "private"
