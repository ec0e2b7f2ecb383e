"""Code of public headers that programs compile for themselves, and what headers declare as internal.

What headers declare under names that say that it is internal, and what of it public declarations lead to.

``geo::detail::counted`` is nobody's to name, by convention. Its members are everybody's where a public class derives
from it, or a function returns one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from abistore.diffing.surface.export_table import is_weak
from abistore.diffing.surface.header_types import HeaderText
from abistore.diffing.types.mentions import COUNTS
from abistore.diffing.types.sameness import TypeSide
from abistore.model.constants import words
from abistore.model.declarations import EXPORTS, Declared, Name
from abistore.model.hints import is_internal_namespace, matches, names_internals
from abistore.model.names.qualified import demangle, entity, plain_template, scope
from abistore.model.names.symbols import OF_CLASS, is_local, is_mangled
from abistore.model.shapes import AnyShape, Function, Named, Pointer, Primitive, Qualified, TypeRef, Variable
from abistore.model.snapshot import INTERNALS_SHOWN, HeadersRead, Snapshot, Variants
from abistore.model.structure import embedded, references
from abistore.model.words import ANY, matcher

Path: TypeAlias = tuple[str, ...]
"""A qualified name by its components, up to its first template arguments."""

RESERVED: Final = re.compile("_[_A-Z]")
"""How names begin that C keeps for its implementation; libraries call so what programs should leave alone."""

QUALIFIED: Final = re.compile(r"(?<![\w:])[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")


class Internals:
    """The internal declarations of one release: whole classes, and functions by their names."""

    def __init__(self, snapshot: Snapshot, files: Mapping[Name, str]) -> None:
        self._source: Mapping[Name, Variants] = snapshot.entries.get("source", {})
        self._files = files
        evidence = snapshot.evidence_of("source")
        read = snapshot.provenance.headers
        self._opened = {_path(each) for each in evidence.inline_namespaces or ()}
        told = isinstance(read, HeadersRead) and INTERNALS_SHOWN in read.facts
        self._known = told and evidence.declares_all
        self._is_unread = matcher(read.unread if isinstance(read, HeadersRead) else ())

    def own(self, name: Name, shapes: Variants) -> bool:
        """Whether nobody but the library is to name a declaration, and nothing public leads to it.

        Functions whose bodies could not be read may return what is called as one of the words in these. A function of C
        whose name is reserved (``__geo_open``, C17 7.1.3) is for inline functions and macros with parameters, unless a
        macro without any stands for it: programs call that.
        """
        path = _qualified(name, shapes)
        if _is_reserved(name):
            return name.spelling not in self._written
        if not self._known or not names_internals("::".join(path)):
            return False
        whole = self._whole(path)
        return whole is not None and whole not in self._shown and not any(map(self._is_unread, path))

    @cached_property
    def _types(self) -> frozenset[Path]:
        kinds = ("record", "enum", "alias")
        return frozenset(_path(name.spelling) for name in self._source if name.kind in kinds)

    @cached_property
    def _written(self) -> frozenset[str]:
        """What macros without parameters name: ``__geo_open`` of ``#define geo_open __geo_open``."""
        declared = (shape for shapes in self._source.values() for shape in shapes if isinstance(shape, Declared))
        return frozenset().union(*(words(each.value) for each in declared if each.value and "macro" in each.traits))

    def _whole(self, path: Path) -> Path | None:
        """The outermost class that a name of an internal namespace stands in, else itself; ``None`` for other names."""
        for place, each in enumerate(path[:-1]):
            scope = path[: place + 1]
            if scope in self._types:
                return None
            if is_internal_namespace(each) and scope not in self._opened:
                ends = range(place + 2, len(path))
                return next((path[:end] for end in ends if path[:end] in self._types), path)
        return None

    @cached_property
    def _held(self) -> Mapping[Path, list[Name]]:
        found: dict[Path, list[Name]] = {}
        for name, shapes in self._source.items():
            whole = self._whole(_qualified(name, shapes))
            if whole is not None:
                found.setdefault(whole, []).append(name)
        return found

    @cached_property
    def _scopes(self) -> Mapping[Path, list[Path]]:
        found: dict[Path, list[Path]] = {}
        for whole in self._held:
            found.setdefault(whole[:-1], []).append(whole)
        return found

    @cached_property
    def _shown(self) -> frozenset[Path]:
        """What public declarations lead to: by what they mention, and by the arguments of calls.

        A call without a scope finds the functions of each namespace in which a class among its arguments stands.
        """
        inner = {name for names in self._held.values() for name in names}
        pending = [each for name in self._source if name not in inner for each in self._mentioned(name, public=True)]
        pending += self._extended()
        found: set[Path] = set()
        while pending:
            whole = pending.pop()
            if whole in found:
                continue
            found.add(whole)
            pending += (each for name in self._held.get(whole, ()) for each in self._mentioned(name, public=False))
            if whole in self._types:
                pending += (each for each in self._scopes.get(whole[:-1], ()) if self._takes(each, whole))
        return frozenset(found)

    def _takes(self, function: Path, type: Path) -> bool:
        """Whether a call without a scope may find a function of the namespace of a type by an argument of it.

        It mentions the type, or is an operator that takes any. Who calls another one names what is internal.
        """
        if function in self._types:
            return False
        if function not in self._taken:
            self._taken[function] = [set(self._mentioned(name, public=False)) for name in self._held[function]]
        generic = function[-1].startswith("operator")
        return any(type in taken or (generic and not taken) for taken in self._taken[function])

    @cached_property
    def _taken(self) -> dict[Path, list[set[Path]]]:
        return {}

    def _extended(self) -> Iterator[Path]:
        """Templates that other headers specialise than the one that has them: programs may do so too."""
        for whole, names in self._held.items():
            own = [name for name in names if name.kind == "record" and _path(name.spelling) == whole]
            primary = Name("record", "::".join(whole))
            files = {self._files.get(name) for name in own if self._is_declared(name)}
            if primary in own and len(files) > 1:
                yield whole

    def _is_declared(self, name: Name) -> bool:
        return any(isinstance(shape, Declared) for shape in self._source[name])

    def _mentioned(self, name: Name, *, public: bool) -> Iterator[Path]:
        """The internal declarations that one mentions; a ``public`` one is what a given header declares."""
        shapes = self._source[name]
        if public and not self._is_declared(name):
            return
        for shape in shapes:
            for text in _texts(name, shape):
                for match in QUALIFIED.findall(text):
                    whole = self._whole(_path(match))
                    if whole is not None:
                        yield whole
            if isinstance(shape, Declared) and "using" in shape.traits and shape.value:
                yield from self._scopes.get(_path(shape.value), ())


def _is_reserved(name: Name) -> bool:
    return name.kind == "function" and RESERVED.match(name.spelling) is not None and not is_mangled(name.spelling)


def _texts(name: Name, shape: AnyShape) -> Iterator[str]:
    if isinstance(shape, Declared):
        yield from shape.shown
        yield from (base.type for base in shape.bases)
        yield shape.value or ""
    elif not _is_private(shape):
        yield from (each.spelling for each, _ in references(shape, name))


def _is_private(shape: AnyShape) -> bool:
    """Whether a member is private, and no virtual function."""
    if isinstance(shape, Function):
        return shape.method is not None and shape.method.access == "private" and not shape.is_virtual
    return isinstance(shape, Variable) and shape.access == "private"


def _qualified(name: Name, shapes: Variants) -> Path:
    display = next((shape.display for shape in shapes if isinstance(shape, Function | Variable)), name.spelling)
    return _path(display)


def _path(spelling: str) -> Path:
    return tuple(spelling.partition("<")[0].partition("operator ")[0].split("::"))


class CompiledFunctions:
    """The functions that whoever calls them has compiled; ``texts`` are what the headers say.

    In a DLL programs call the library's all the same, where its class is imported. What a header that is left out
    declares may have no definition there.
    """

    def __init__(self, snapshot: Snapshot, texts: Mapping[Name, HeaderText]) -> None:
        self._symbols = snapshot.entries.get("symbol", {})
        self._texts = texts
        read = snapshot.provenance.headers
        all_read = not (isinstance(read, HeadersRead) and read.set_aside)
        self._known = all_read and snapshot.target.format != "pe"

    def has(self, export: Name, declared: Name | None) -> bool:
        """Whether headers define ``export``, which they have ``declared``, or the template that it is made of."""
        if export.kind != "function" or not self._known:
            return False
        if declared is not None:
            return self._texts[declared].defined
        if not is_mangled(export.spelling) or is_local(export.spelling) or export.spelling.startswith(OF_CLASS):
            return False
        return is_weak(self._symbols.get(export, ())) and self._is_instance(entity(demangle(export.spelling)))

    def _is_instance(self, qualified: str) -> bool:
        """Whether ``qualified`` is an instance of a defined function template, or a member of a class template's."""
        templates = map(_template, (scope(qualified), qualified))
        return any(each in self._templates for each in templates) or self._is_within(qualified)

    def _is_within(self, qualified: str) -> bool:
        """Whether ``qualified`` is a member of a class that stands in an instance: ``Box<int>::Rows::clear``."""
        outer = scope(scope(qualified))
        while "<" in outer:
            found = plain_template(outer)
            if found is not None and found[1] and found[0] in self._around:
                return True
            outer = scope(outer)
        return False

    @cached_property
    def _templates(self) -> frozenset[str]:
        """The defined templates: with all partial specialisations and overloads."""
        told = ((_plain(name, text), text.defined) for name, text in self._texts.items() if text.template)
        return _without_exception(told)

    @cached_property
    def _around(self) -> frozenset[str]:
        records = ((name, text) for name, text in self._texts.items() if text.template and name.kind == "record")
        return _without_exception((_plain(name, text), text.defined_within) for name, text in records)


def _template(qualified: str) -> str:
    """The template of which ``qualified`` is an instance, if it is one. A pack may be empty: ``log<>``."""
    if qualified.endswith("<>"):
        return qualified.removesuffix("<>")
    found = plain_template(qualified)
    return found[0] if found is not None else ""


def _plain(name: Name, text: HeaderText) -> str:
    return re.sub(r"<.*", "", text.template) if name.kind == "record" else text.template


def _without_exception(told: Iterable[tuple[str, bool]]) -> frozenset[str]:
    """The names of which the same is told each time."""
    found: dict[str, bool] = {}
    for name, holds in told:
        found[name] = found.get(name, True) and holds
    return frozenset(name for name, holds in found.items() if holds)


class CompiledTypes:
    """The types of which code in headers has objects, or uses members; each with the declaration whose code that is.

    ``source`` are the declarations of headers, ``texts`` what is said of them.
    """

    def __init__(self, source: Mapping[Name, Variants], texts: Mapping[Name, HeaderText]) -> None:
        self._source = source
        self._texts = texts

    def __contains__(self, type: object) -> bool:
        return type in self._users

    def users(self, type: Name) -> Sequence[Name]:
        """The public declarations whose code has the layout of ``type``, sorted."""
        return sorted(self._users.get(type, ()))

    def callers(self, export: Name) -> Sequence[Name]:
        """The public declarations whose code uses ``export``, sorted."""
        return sorted(self._callers.get(export.spelling, ()))

    @cached_property
    def _callers(self) -> Mapping[str, set[Name]]:
        found: dict[str, set[Name]] = {}
        for name in self._source:
            for call in self._texts[name].calls:
                found.setdefault(call, set()).add(name)
        return found

    def called_beside(self, type: Name) -> Sequence[Name]:
        """The functions that code with the layout of ``type`` calls, and whose parameters no given header tells."""
        calls = {call for user in self.users(type) for call in self._texts[user].calls}
        names = (Name(kind, call) for call in calls for kind in EXPORTS)
        return sorted(name for name in names if name not in self._source)

    def may_use(self, name: str, members: Collection[str]) -> bool:
        """Whether macros may be written that use an export of this name, or one of these members of a class."""
        return self._is_pasted(name) or not self._members.isdisjoint(members)

    @cached_property
    def _is_pasted(self) -> Callable[[str], bool]:
        return matcher(call for name in self._source for call in self._texts[name].calls if ANY in call)

    @cached_property
    def _members(self) -> frozenset[str]:
        fields = (field for name in self._source for field in self._texts[name].fields)
        return frozenset(field.removeprefix("::") for field in fields if field.startswith("::"))

    @cached_property
    def _users(self) -> Mapping[Name, set[Name]]:
        found: dict[Name, set[Name]] = {}
        for name in self._source:
            text = self._texts[name]
            owners = (each.rpartition("::")[0] for each in text.fields)
            pending = [*text.objects, *(Name("record", owner) for owner in owners if owner)]
            seen = set[Name]()
            while pending:
                each = pending.pop()
                if each not in seen:
                    seen.add(each)
                    found.setdefault(each, set()).add(name)
                    pending += (part for shape in self._source.get(each, ()) for part in embedded(shape))
        return found


def counted_results(source: Mapping[Name, Variants], types: TypeSide) -> frozenset[Name]:
    """The records of which functions return a pointer, and a number of them through a parameter that is called so."""
    return frozenset(
        record
        for name, shapes in source.items()
        if name.kind == "function"
        for shape in shapes
        if isinstance(shape, Function) and _tells_a_count(shape, shapes, types)
        for record in _pointed_at(shape.result, types)
    )


def _tells_a_count(function: Function, shapes: Variants, types: TypeSide) -> bool:
    written = next((each.parameters for each in shapes if isinstance(each, Declared)), ())
    return len(written) == len(function.parameters) and any(
        matches("count", argument.name) and _is_filled(type, types)
        for argument, type in zip(written, function.parameters, strict=True)
    )


def _is_filled(type: TypeRef, types: TypeSide) -> bool:
    bare = types.bare(type)[0]
    if not isinstance(bare, Pointer):
        return False
    number, qualifiers = types.bare(bare.target)
    return isinstance(number, Primitive) and number.spelling in COUNTS and "const" not in qualifiers


def _pointed_at(type: TypeRef, types: TypeSide) -> Iterator[Name]:
    """The record that a pointer leads to at once: one behind two pointers is an array of pointers."""
    bare = types.bare(type)[0]
    if isinstance(bare, Pointer):
        target = types.bare(bare.target)[0]
        while isinstance(target, Qualified):
            target = types.bare(target.target)[0]
        if isinstance(target, Named) and target.name.kind == "record":
            yield target.name
