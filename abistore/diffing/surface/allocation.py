"""Who allocates the objects of a type, and whether consumers can look into them at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol

from abistore.diffing.reuse import Derived, Summaries
from abistore.diffing.types.mentions import NONE, Names, TypeUse
from abistore.model.declarations import Name
from abistore.model.hints import any_matches, matches
from abistore.model.words import is_own_header, is_source


class HandleHeaders(Derived):
    """Which headers of a C library define handles and nothing that its public headers need.

    Where all headers lie in one folder, a public one is known by the exports that it declares. What it has to include
    is public too: it writes an alias or enumeration down, or holds a record. A pointer to a record needs no more than
    its name, which an alias introduces::

        typedef struct parser_s parser_t;   /* parser.h, with parser_t *parser_new(void) */
        struct parser_s { int depth; };     /* tokens.h, which declares no export */

    Programs that include ``parser.h`` do not see into a parser. A header with types alone may be included by the
    one of the functions, which this does not tell. What has no alias may be declared anywhere: it is a handle where a
    unit calls the functions of ``parser.h`` and knows no definition, since that unit includes all that callers need.
    A function that is known by its definition only may be declared beside the record, and makes that no handle.
    """

    def __init__(
        self, uses: Summaries[TypeUse], files: Mapping[Name, str], exports: Collection[Name], held: Collection[Name]
    ) -> None:
        self._uses = uses
        self._files = files
        self._exports = exports
        self._held = held

    def hide(self, record: Name) -> bool:
        """Whether headers with exports do with the name of ``record``, and one that they do not need defines it."""
        file = self._files.get(record, "")
        return is_own_header(file) and self._is_named(record) and file not in self._public

    def _is_named(self, record: Name) -> bool:
        """Whether a caller does without a definition, or a header with exports gives ``record`` an alias."""
        if record in self._uses and self._uses[record].handle and record not in self._undeclared:
            return True
        return not self._aliases.get(record, set()).isdisjoint(self._declaring)

    @cached_property
    def _aliases(self) -> Mapping[Name, set[str]]:
        found: dict[Name, set[str]] = {}
        for name in self._uses:
            if name.kind == "alias":
                for each in self._uses[name].embeds:
                    found.setdefault(each, set()).add(self._files.get(name, ""))
        return found

    @cached_property
    def _undeclared(self) -> frozenset[Name]:
        unknown = (self._uses[name] for name in self._exports if not is_own_header(self._files.get(name, "")))
        return frozenset(each for use in unknown for each in use.usable)

    @cached_property
    def _declaring(self) -> frozenset[str]:
        return frozenset(file for name in self._exports if is_own_header(file := self._files.get(name, "")))

    @cached_property
    def _public(self) -> frozenset[str]:
        """The headers that declare exports, or define what programs hold, and all that these include."""
        declared: dict[str, list[Name]] = {}
        for name, file in self._files.items():
            if name in self._uses and is_own_header(file):
                declared.setdefault(file, []).append(name)
        found = set[str]()
        pending = [*((name, False) for name in self._exports), *((name, True) for name in self._held)]
        seen = set(pending)
        while pending:
            name, complete = pending.pop()
            come = set(self._needed(name, complete))
            file = self._files.get(name, "")
            if file in declared and file not in found:
                found.add(file)
                come |= {(each, False) for each in declared[file]}
            pending += come - seen
            seen |= come
        return frozenset(found)

    def _needed(self, name: Name, complete: bool) -> Iterator[tuple[Name, bool]]:
        """What a header that declares ``name`` has to include, and whether with its definition.

        Who only points to an alias, not ``complete``, needs no definition of the record that it stands for.
        """
        use = self._uses[name]
        defining = complete or name.kind != "alias"
        for other in use.usable:
            defined = defining and other in use.by_value
            if other in self._uses and (defined or other.kind != "record"):
                yield other, defined


class UnnameableDeclarations(Protocol):
    """What consumers cannot name: exports, ``classes``, and those of these that private headers define."""

    def has(self, export: Name, /) -> bool:
        """Whether no consumer can name ``export``."""

    @property
    def classes(self) -> frozenset[Name]:
        """The types that no consumer can name, or that consumers know nothing about."""

    @property
    def concealed(self) -> frozenset[Name]:
        """The types defined in private headers."""


class PrivateDeclarations(Protocol):
    """Members that the library alone calls."""

    def has(self, export: Name, /) -> bool:
        """Whether ``export`` is one."""


class Allocation(Derived):
    """Who allocates the types of one release, and who sees into them, as its exports show.

    ``files`` tells where declarations stand; headers of a library that is ``plain`` C may say of themselves that they
    are internal. ``private`` members are called by the library alone.
    """

    def __init__(
        self,
        uses: Summaries[TypeUse],
        internals: UnnameableDeclarations,
        private: PrivateDeclarations,
        files: Mapping[Name, str],
        *,
        plain: bool = True,
    ) -> None:
        self._uses = uses
        self._internals = internals
        self._private_members = private
        self._files = files
        self._plain = plain

    def library_allocates(self, name: Name) -> bool:
        """Whether consumers hold pointers to ``name`` at most, and get them from the library.

        So it is where no export uses it by value, and functions return a pointer to it, or fill one in through a
        pointer to a pointer (``int open(handle **)``), or it is met only behind pointers of what the library allocates.
        A polymorphic class may be derived from and is never counted among these.
        """
        return name not in self._consumers_allocate

    def hands_out_many(self, name: Name) -> bool:
        """Whether the library hands out arrays of ``name``, through which consumers step by its size.

        So it is where a function tells a number along with what it hands out (``int list(item **, size_t *)``), and
        none takes one item without any number: ``handle *open(int *error)`` hands out one.
        """
        return name in self._counted and name not in self.taken_alone

    def is_private(self, name: Name) -> bool:
        """Whether no consumer knows what ``name`` is made of.

        So it is where the library allocates it and a file defines it that consumers cannot include; and where it is met
        only inside such types, or in fields whose name forbids to use them (``internal_donotuse``). Such a file is a
        source file; a header that is not public (:mod:`abistore.diffing.surface.public_headers`); in C, a header
        that calls itself internal, or that defines handles (:mod:`abistore.diffing.surface.allocation`). A file
        that defines anything which consumers allocate is none of these, whatever it is called.
        A source file that is a part of the library hides all its records, but those that go by value: where most
        exports stand in other files, it is not a library in one file, whose types a header repeats.
        A record that other units of the library know by a dummy only (``struct state { int dummy; };``) is private too.
        Nothing is private to its file in a library whose headers define no type: it may have no headers, or be one file
        made of all.
        """
        return name in self._private

    @cached_property
    def by_value(self) -> frozenset[Name]:
        """What consumers hold themselves: exports that they can name, and code that they compile, have it by value."""
        return self._held_by([*self._exports, *self._templates])

    @cached_property
    def held_by_own(self) -> frozenset[Name]:
        """The part of :attr:`by_value` that does not rest on functions of the standard library that were linked in."""
        own = (name for name in self._exports if not self._uses[name].standard)
        return self._held_by([*own, *self._templates])

    @cached_property
    def _templates(self) -> Sequence[Name]:
        return [name for name, use in self._uses.items() if use.template]

    def _held_by(self, exports: Iterable[Name]) -> frozenset[Name]:
        pending = list(exports)
        found: set[Name] = set()
        while pending:
            come = self._uses[pending.pop()].by_value - found
            found |= come
            pending += come
        return frozenset(found)

    def passed_with(self, name: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What goes by value and is or embeds ``name``, sorted.

        Exports that stay and that consumers can name, function pointers and virtual methods take or return it.
        """
        called, passing = self._called_with, self._passing
        return [each for each in self._around(name) if each in called or any(map(stays, passing.get(each, ())))]

    def taken_with(self, name: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """The part of :meth:`passed_with` that is taken, and not only returned."""
        return [
            each
            for each in self.passed_with(name, stays)
            if any(each in use.called.taken for use in self._uses.values())
            or any(each in self._uses[export].takes for export in self._passing.get(each, ()) if stays(export))
        ]

    def _around(self, name: Name) -> Sequence[Name]:
        found, pending = {name}, [name]
        while pending:
            for each in self._embedding.get(pending.pop(), ()):
                if each not in found:
                    found.add(each)
                    pending.append(each)
        return sorted(found)

    @cached_property
    def _embedding(self) -> Mapping[Name, Sequence[Name]]:
        found: dict[Name, list[Name]] = {}
        for name, use in self._uses.items():
            for each in use.embeds:
                found.setdefault(each, []).append(name)
        return found

    @cached_property
    def _passing(self) -> Mapping[Name, Sequence[Name]]:
        found: dict[Name, list[Name]] = {}
        for name in self._exports:
            for each in self._uses[name].passes:
                found.setdefault(each, []).append(name)
        return found

    @cached_property
    def _called_with(self) -> Names:
        return NONE.union(*(use.called.values for use in self._uses.values()))

    @cached_property
    def _exports(self) -> tuple[Name, ...]:
        exports = (name for name in self._uses if name.kind in ("function", "variable"))
        return tuple(name for name in exports if not (self._internals.has(name) or self._private_members.has(name)))

    # who allocates

    @cached_property
    def _consumers_allocate(self) -> frozenset[Name]:
        given = self._given
        taken = frozenset(name for name in self._taken - given if not self._is_within_part(name))
        pending = [*self.by_value, *taken, *self._polymorphic()]
        given |= self._called_back - taken
        found: set[Name] = set()
        while pending:
            name = pending.pop()
            if name in found:
                continue
            found.add(name)
            use = self._uses[name]
            pending += (each for each, own in use.inside if own not in given and own not in self._internals.classes)
            pending += use.embeds
        return frozenset(found | self._embedded_in(self._stepped()))

    def _embedded_in(self, names: Iterable[Name]) -> set[Name]:
        """These types and what they embed. What they point to is the library's, which fills them in."""
        pending, found = list(names), set[Name]()
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self._uses[name].embeds
        return found

    def _polymorphic(self) -> Iterator[Name]:
        return (name for name, use in self._uses.items() if use.polymorphic and name not in self._internals.classes)

    def _stepped(self) -> Iterator[Name]:
        """What consumers step over by its size in containers that the library hands out, or lets them see.

        The code of ``std::vector`` and of the library's own templates is compiled into them. Nobody looks into records
        that source files or internal headers define.
        """
        pending: list[Name] = list(self._exports)
        seen = {*pending, *self._internals.classes}
        while pending:
            name = pending.pop()
            file = self._files.get(name, "") if name.kind == "record" else ""
            if file and (is_source(file) or _says_internal(file)):
                continue
            use = self._uses[name]
            yield from use.stepped
            pending += (come := use.open - seen)
            seen |= come

    @cached_property
    def _given(self) -> Names:
        calls = [call for name in self._exports for call in self._uses[name].calls]
        return NONE.union(*((call.returns - call.takes) | call.fills for call in calls))

    @cached_property
    def _counted(self) -> Names:
        many = set[Name]()
        for name in self._exports:
            for call in self._uses[name].calls:
                if call.tells:
                    handed = call.fills | call.returns if call.tells_unsigned else call.fills
                    many |= handed - call.takes
        return frozenset(many)

    @cached_property
    def taken_alone(self) -> Names:
        """What some function takes without any number: one item."""
        alone = (call.takes for name in self._exports for call in self._uses[name].calls if not call.is_told)
        return NONE.union(*alone)

    @cached_property
    def _taken(self) -> Names:
        """What functions take by address. To be freed is no use of its own for what callbacks were given."""
        found: set[Name] = set()
        for name in self._exports:
            for call in self._uses[name].calls:
                found |= call.takes - self._called_back if call.disposes else call.takes
        return frozenset(found).union(*(use.points_at for use in self._uses.values()))

    @cached_property
    def _called_back(self) -> Names:
        """What function pointers and virtual methods are called with: the library passes what it has."""
        return NONE.union(*(use.called.addresses for use in self._uses.values()))

    # who can see

    @cached_property
    def _private(self) -> frozenset[Name]:
        files = {name: file for name, file in self._files.items() if name in self._uses}
        hidden = self._hidden(files) if self._has_headers else set[Name]()
        hidden |= {name for name in self._uses if self._uses[name].dummy and self.library_allocates(name)}
        return frozenset(self._unseen(hidden) | hidden)

    @cached_property
    def _has_headers(self) -> bool:
        located = (file for name, file in self._files.items() if name.kind in ("record", "enum") and name in self._uses)
        return any(map(is_own_header, located))

    def _hidden(self, files: Mapping[Name, str]) -> set[Name]:
        """Records defined in private headers, and records that the library allocates and private files define.

        A header with an alias or enum of which functions are said to take or return something is one that consumers
        include. A tag tells nothing: any header may declare it ahead.
        """
        shared = {files[name] for name in self._consumers_allocate if name in files}
        written = {each for name in self._exports for each in self._uses[name].written}
        named_in = {files[name] for name in written if name.kind != "record" and name in files}
        return {
            name
            for name, file in files.items()
            if name.kind == "record" and self.library_allocates(name)
            if file not in shared or self._is_within_part(name)
            if is_source(file) or (self._plain and self._is_left_out(name, file not in named_in))
        } | {name for name in self._internals.concealed if name.kind in ("record", "enum", "alias") and name in files}

    def _is_left_out(self, name: Name, unnamed: bool) -> bool:
        """Whether the header that defines ``name`` says that it is internal, or defines handles for others."""
        file = self._files[name]
        return (unnamed and is_own_header(file) and _says_internal(file)) or self._handles.hide(name)

    def _is_within_part(self, name: Name) -> bool:
        """Whether a source file defines the record that is a part of the library, and not all of it in one file."""
        file = self._files.get(name, "")
        return name.kind == "record" and is_source(file) and self._has_headers and file not in self._whole

    @cached_property
    def _whole(self) -> frozenset[str]:
        standing = Counter(self._files[name] for name in self._exports if name in self._files)
        return frozenset(file for file, count in standing.items() if 2 * count >= standing.total())

    @cached_property
    def _handles(self) -> HandleHeaders:
        return HandleHeaders(self._uses, self._files, self._exports, self._consumers_allocate)

    def _unseen(self, hidden: set[Name]) -> set[Name]:
        """What the exports reach only through ``hidden`` types."""
        pending = list(self._exports)
        seen = set(pending)
        while pending:
            come = self._uses[pending.pop()].usable - seen
            seen |= come
            pending += come - hidden
        return {name for name in self._uses if name not in seen}


def _says_internal(file: str) -> bool:
    path = PurePosixPath(file)
    return matches("internal_header", path.stem.lower()) or any_matches("internal_folder", path.parts[:-1])
