"""Which headers of a library its consumers cannot include, told from where declarations stand and who needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from abistore.compare.consumers.header_clues import HeaderClues
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.words.files import include_root, is_beside, is_cpp_header, is_own_header, is_source, may_be_private
from abistore.patterns import pattern

_PREFIX: Final = pattern(r"_+[A-Za-z0-9]+_(?=\w)")
MANY = 10
"""So many C++ exports in hidden headers, and so many times those in public ones, tell that the interface is a C one."""


class PublicHeaders:
    """Which headers only the library's own sources need.

    Public are the headers in an ``include`` folder that declare some of what is exported. Headers beside that folder
    are not, as long as nothing public needs what they declare: a type that a public header's types embed, derive from
    or write down by an alias or as an enum, or that its functions take by value, or that C functions are given and
    nothing hands out. Behind a pointer a record needs no more than its name, unless an inline destructor deletes it.
    C functions that are known by their definition only may be public: they need every record that no public header
    mentions. Where most of these do with the public headers, the few that do not are internal themselves. Everything
    that a header declares is as public as the header. Where one header beside the folder is needed, the folder is not
    all that is installed, and tells of no other.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues

    def hides(self, name: Name) -> bool:
        """Whether ``name`` is declared in such a header, as far as is known."""
        return self.header(name) != ""

    def header(self, name: Name) -> str:
        """The header that is not public and declares ``name``, or must be included to declare it; empty without one.

        A C++ function of which the definition alone is known stands in a public header only if that can do with what
        the function's types need, and if public headers declare any C++ at all: else its source file stands for where
        it is declared.
        """
        file = self.file(name)
        if not is_source(file):
            return file if may_be_private(file) and file in self.hidden else ""
        if not is_mangled(name.spelling):
            beside = self._internal_functions.get(name, "") or self._private_prefixes.get(_prefix(name), "")
            return beside if beside in self.hidden else ""
        if any(may_be_private(each) and not is_source(each) for each in map(self.file, self._clues.mentioned(name))):
            needed = {self.file(other) for other, _ in self._needed(name, False)} & self.hidden
            if needed:
                return min(needed)
        return file if self._interface_is_c else ""

    @cached_property
    def _interface_is_c(self) -> bool:
        """Whether public headers declare next to no C++ export, while hidden ones and C functions are many."""
        exports = [name for name in self._clues.names if name.kind in ("function", "variable")]
        files = [self.file(name) for name in exports if is_mangled(name.spelling)]
        plain, public = len(exports) - len(files), sum(include_root(file) is not None for file in files)
        if not plain or public * MANY > plain:
            return False  # most often, and without a look at who needs which header
        hidden = sum(file in self.hidden for file in files)
        return hidden >= MANY and public * MANY <= hidden

    def file(self, name: Name) -> str:
        """The file that declares ``name``, the class for members; empty where it is not known."""
        return self._clues.names[name].file

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The paths of the headers that consumers cannot include; none where others than the folder's may be public."""
        return self.unneeded if self._beside[0] == self.unneeded else frozenset()

    @property
    def unneeded(self) -> frozenset[str]:
        """The paths of the headers beside ``include`` folders that nothing public needs."""
        return self._beside[1]

    def is_handle(self, name: Name) -> bool:
        """Whether public headers mention the record ``name`` and need no header that defines it."""
        return self._clues.files.get(name) in self.unneeded and name in self._handles

    @cached_property
    def _beside(self) -> tuple[frozenset[str], frozenset[str]]:
        """The headers beside ``include`` folders, and those of them that nothing public needs."""
        place = self._place
        if not place:
            return frozenset(), frozenset()
        declared: dict[str, list[Name]] = {}
        for name, file in place.items():
            declared.setdefault(file, []).append(name)
        hidden = set(declared)
        public = (name for name in self._clues.names if self._is_public(name, place))
        pending = [(name, False) for name in public if name not in self._internal_functions]
        seen = set(pending)
        while pending and hidden:
            for each in self._needed(*pending.pop()):
                if each in seen:
                    continue
                seen.add(each)
                pending.append(each)
                header = place.get(each[0])
                if header in hidden:
                    hidden.discard(header)
                    come = {(name, False) for name in declared[header]} - seen
                    pending += come
                    seen |= come
        return frozenset(declared), frozenset(hidden)

    @cached_property
    def _place(self) -> Mapping[Name, str]:
        """What headers beside ``include`` folders declare, each with its header."""
        roots = self._roots()
        files = ((name, self.file(name)) for name in (self._clues.names if roots else ()))
        return {
            name: file for name, file in files if is_own_header(file) and any(is_beside(file, each) for each in roots)
        }

    @cached_property
    def _internal_functions(self) -> Mapping[Name, str]:
        """The C functions that need a header beside their sources, each with one, where most need none.

        All are known by their definition only. ``int compare(struct node, struct node)`` is declared beside ``node``,
        and not in the header of ``parser *parser_new(void)``. A header in a folder without sources may be installed.
        """
        if not self._place:
            return {}
        public, needing, sources = 0, dict[Name, str](), set[str]()
        for name in self._clues.names:
            file = self.file(name)
            if name.kind == "function" and not is_mangled(name.spelling) and is_source(file):
                sources.add(_folder(file))
                headers = [self._place[each] for each, _ in self._needed(name, False) if each in self._place]
                if headers:
                    needing[name] = min(headers)
                elif any(include_root(self.file(each)) is not None for each in self._clues.mentioned(name)):
                    public += 1
        beside = {name: header for name, header in needing.items() if _folder(header) in sources}
        return beside if public > len(needing) else {}

    @cached_property
    def _private_prefixes(self) -> Mapping[str, str]:
        """Prefixes such as ``_lib_`` of functions that are all private, each with a hidden header.

        So they are beside functions with ``lib_`` where a hidden header declares some, or has what these need, and a
        public one declares none: what the others take says nothing about who may call them. Tags of structures are no
        functions (``typedef struct _lib_list {} lib_list``).
        """
        headers = dict[str, set[str]]()
        functions = [name for name in self._clues.names if name.kind == "function"] if self.hidden else []
        for name in functions:
            if prefix := _prefix(name):
                headers.setdefault(prefix, set()).add(self._internal_functions.get(name) or self.file(name))
        private = {
            prefix: min(hidden)
            for prefix, files in headers.items()
            if (hidden := files & self.hidden) and all(include_root(file) is None for file in files)
        }
        plain = {each for each in private if any(name.spelling.startswith(each.lstrip("_")) for name in functions)}
        return {prefix: private[prefix] for prefix in plain}

    def _roots(self) -> frozenset[str]:
        """The folders around ``include`` folders with a header that declares an export, or a type that exports use.

        Headers of which inline functions alone are exported may be another project's, which this one brings along. What
        C++ functions use tells where most of those that are known by their definition need no header elsewhere.
        """
        if all(include_root(file) is None for file in set(self._clues.files.values())):
            return frozenset()
        found, used, alone, elsewhere = set[str](), set[str](), 0, 0
        for name in self._clues.names:
            if name.kind not in ("function", "variable") or not self._clues.names[name].strong:
                continue
            mentioned = set(map(self.file, self._clues.mentioned(name)))
            roots = {root for file in mentioned if (root := include_root(file)) is not None}
            own = include_root(self.file(name))
            found |= set() if own is None else {own}
            if not is_mangled(name.spelling):
                found |= roots
            elif any(is_own_header(file) and include_root(file) is None for file in mentioned):
                elsewhere += 1
            elif roots:
                used, alone = used | roots, alone + 1
        return frozenset(found | used if alone > elsewhere else found)

    def _is_public(self, name: Name, place: Mapping[Name, str]) -> bool:
        """Whether consumers may use ``name`` itself: exports and types of public headers, C functions from anywhere.

        A public header defines a template, and not its instance for a type that stands elsewhere.
        """
        if name in place or self._is_instance_for(name, place):
            return False
        return include_root(self.file(name)) is not None or (
            name.kind in ("function", "variable") and not is_mangled(name.spelling)
        )

    def _is_instance_for(self, name: Name, place: Mapping[Name, str]) -> bool:
        """Whether ``name`` is an instance of a template for a type in ``place``, or for such an instance."""
        pending, seen = [name], {name}
        while pending:
            come = {each for type in self._clues.types[pending.pop()] for each in type.arguments} - seen
            if not place.keys().isdisjoint(come):
                return True
            pending += come
            seen |= come
        return False

    def _needed(self, name: Name, complete: bool) -> Iterator[tuple[Name, bool]]:
        """What a header that declares ``name`` has to include, and whether with its definition.

        Who only points to an alias, not ``complete``, needs no definition of the record that it stands for. What source
        files define, no header can use.
        """
        exported = name.kind in ("function", "variable")
        file = self.file(name)
        if is_source(file) and not exported:
            return
        plain = exported and not is_mangled(name.spelling)
        unknown = plain and include_root(file) is None
        for part in self._clues.parts[name]:
            tags = () if complete or part.stands_for is None else part.stands_for
            for other, by_value in part.mentions:
                defined = by_value and other not in tags
                tag = other.kind == "record"
                if defined or (unknown and not self._is_named_only(other) if tag else not self._names_handle(other)):
                    yield other, defined
            if name not in self._destroyed_inside:
                yield from ((each, True) for held in part.holds for each in self._deleted_by(held))
            if plain:
                yield from ((each, True) for each in part.takes if each not in self._given)

    def _deleted_by(self, pointer: Name) -> Iterator[Name]:
        """What a ``std::unique_ptr`` deletes: inline destructors need its definition."""
        return (type.first for type in self._clues.types[pointer] if type.first is not None)

    @cached_property
    def _destroyed_inside(self) -> frozenset[Name]:
        """The classes whose destructors the library exports and no header defines."""
        strong = (name for name in self._clues.names if self._clues.names[name].strong)
        return frozenset(
            part.destroys for name in strong for part in self._clues.parts[name] if part.destroys is not None
        )

    def _is_named_only(self, record: Name) -> bool:
        """Whether C functions do with the name of ``record``: public headers mention it, or it is handed out from C++.

        What a header defines that is called one of C++ (``context.hpp``), C programs get pointers to at most.
        """
        return record in self._handles or (record in self._given and is_cpp_header(self.file(record)))

    def _names_handle(self, alias: Name) -> bool:
        """Whether ``alias`` is another name of a record that public headers mention."""
        named = [each for part in self._clues.parts[alias] for each in part.stands_for or ()]
        return bool(named) and self._handles.issuperset(named)

    @cached_property
    def _handles(self) -> frozenset[Name]:
        """The records that public headers mention."""
        public = (name for name in self._clues.names if include_root(self.file(name)) is not None)
        return frozenset(other for name in public for other in self._clues.mentioned(name))

    @cached_property
    def _given(self) -> frozenset[Name]:
        """The records that C functions hand out: they return a pointer to one, or fill one in."""
        plain = (name for name in self._clues.names if name.kind == "function" and not is_mangled(name.spelling))
        return frozenset(each for name in plain for part in self._clues.parts[name] for each in part.hands_out)


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _prefix(name: Name) -> str:
    """``_lib_`` of the C function ``_lib_flush``; empty for names that begin with a letter, and for those of C++."""
    found = None if is_mangled(name.spelling) else _PREFIX.match(name.spelling)
    return found[0] if found else ""
