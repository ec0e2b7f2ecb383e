"""A release of several libraries: which of them needs, provides and describes what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from abistore.model.labels.sonames import unmarked
from abistore.model.names import Name
from abistore.model.shapes import Record
from abistore.model.snapshot import Snapshot
from abistore.model.tables import Import, Library, Symbol


class MemberLibrary:
    """One library of a release."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.name = snapshot.library
        self.facts = snapshot.facts or Library("shared")

    @property
    def soname(self) -> str | None:
        """What others ask for it by, without folders, and without the mark of a copy in a wheel, new in each build."""
        return asked_for(self.facts.name) if self.facts.name else None

    @property
    def needed(self) -> tuple[str, ...]:
        """The SONAMEs that it asks for, in the same form."""
        return tuple(map(asked_for, self.facts.needed))

    @cached_property
    def imports(self) -> Mapping[str, frozenset[str | None]]:
        """The symbols that it cannot do without, each with the versions that it must have (``None``: any)."""
        found = dict[str, frozenset[str | None]]()
        for name, shapes in self.snapshot.entries.get("symbol", {}).items():
            if name.kind == "import":
                versions = {each.version for each in shapes if isinstance(each, Import) and not each.weak}
                found |= {name.spelling: frozenset(versions)} if versions else {}
        return found

    @cached_property
    def exports(self) -> Mapping[str, tuple[Symbol, ...]]:
        """The symbols that it exports, each with its versions."""
        return {
            name.spelling: tuple(each for each in shapes if isinstance(each, Symbol))
            for name, shapes in self.snapshot.entries.get("symbol", {}).items()
            if name.kind in ("function", "variable")
        }

    def provides(self, symbol: str, version: str | None) -> bool:
        """Whether the loader takes its symbol for one of this version; a library without versions has all."""
        found = self.exports.get(symbol, ())
        return any(version is None or each.version in (None, version) for each in found)

    def records(self) -> Iterator[tuple[Name, tuple[Record, ...]]]:
        """The records that debug information describes in full, each in one way."""
        for name, shapes in self.snapshot.entries.get("layout", {}).items():
            if name.kind == "record" and len(shapes) == 1 and isinstance(shapes[0], Record):
                yield name, (shapes[0],)


def asked_for(soname: str) -> str:
    """``libfoo.1.dylib`` of ``@rpath/libfoo.1.dylib``, which libraries of a release find each other by."""
    return unmarked(soname.rpartition("/")[2])


class ReleaseLibraries:
    """All libraries of a release for one platform, by their names."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self.by_name = {each.library: MemberLibrary(each) for each in sorted(snapshots, key=lambda one: one.library)}
        self.by_soname = {each.soname: each for each in self.by_name.values() if each.soname}

    def needs(self, library: MemberLibrary) -> Iterator[MemberLibrary]:
        """The libraries of the release that are loaded with ``library``, nearest first."""
        return self._led_to(library, lambda each: each.needed)

    def reexported(self, library: MemberLibrary) -> Iterator[MemberLibrary]:
        """The libraries of the release whose exports count as those of ``library``, nearest first."""
        return self._led_to(library, lambda each: tuple(map(asked_for, each.facts.on_macho.reexports)))

    def _led_to(
        self, library: MemberLibrary, names: Callable[[MemberLibrary], Sequence[str]]
    ) -> Iterator[MemberLibrary]:
        pending, seen = [library], {library.name}
        while pending:
            for soname in names(pending.pop(0)):
                found = self.by_soname.get(soname)
                if found is not None and found.name not in seen:
                    seen.add(found.name)
                    pending.append(found)
                    yield found

    def provider(self, library: MemberLibrary, symbol: str, version: str | None) -> MemberLibrary | None:
        """The library of the release that gives ``library`` a symbol; of those that are loaded with it, the nearest."""
        return next((each for each in self.needs(library) if each.provides(symbol, version)), None)
