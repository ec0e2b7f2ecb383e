"""The development packages that were given, laid out as far as a library's headers need them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from abistore.extract.input_file import InputFile, open_input
from abistore.extract.packages.development import INCLUDE, DevelopmentFiles, lay_out
from abistore.extract.packages.entries import Entry
from abistore.extract.packages.formats.identity import PackageIdentity
from abistore.extract.packages.formats.streams import damage_told
from abistore.extract.packages.package_index import is_index
from abistore.extract.packages.pkg_config import is_pkg_config, module_name
from abistore.extract.packages.pool import others, with_needed
from abistore.limits import allow_more


class PackageAccess(msgspec.Struct, frozen=True):
    """How packages are read: what they hold, and what they say of themselves."""

    entries: Callable[[InputFile], Iterable[Entry]]
    identity: Callable[[InputFile], PackageIdentity]


class _Held(msgspec.Struct, frozen=True):
    """What a package holds that may be needed: the names of its ``.pc`` files, and the paths of its headers."""

    modules: frozenset[str]
    headers: tuple[str, ...]


class GivenPackages:
    """Development packages below ``folder``; of folders of packages, those that are needed."""

    def __init__(self, paths: Sequence[Path], folder: Path, beside: PackageIdentity, access: PackageAccess) -> None:
        self._folder, self._access = folder, access
        self.files: list[DevelopmentFiles] = []
        self.indexes = tuple(
            each for path in paths if path.is_dir() for each in sorted(path.iterdir()) if is_index(each)
        )
        chosen = with_needed(paths, beside, access.identity)
        for path in chosen:
            self._take(path)
        self._rest = {path: self._held(path) for path in others(paths, chosen)}
        self._take_required()

    def find(self, names: Iterable[str]) -> bool:
        """Make headers known by what they are included as; whether a package has one that was not searched before."""
        found = [self._find(name) for name in names]
        return any(found)

    def _find(self, name: str) -> bool:
        if any(self._is_found(each, name) for each in self.files):
            return False
        end = f"/{name}"
        fitting = [path for path, held in self._rest.items() if any(each.endswith(end) for each in held.headers)]
        if fitting:
            self._take(fitting[0])
            del self._rest[fitting[0]]
            self._take_required()
        places = [(number, root) for number, each in enumerate(self.files) for root in _folders_of(each, name)]
        for number, root in places[:1]:
            files = self.files[number]
            self.files[number] = msgspec.structs.replace(
                files, named_dirs=tuple(dict.fromkeys((*files.named_dirs, root)))
            )
        return bool(places)

    def _is_found(self, files: DevelopmentFiles, name: str) -> bool:
        return any((folder / name).is_file() for folder in (*files.include_dirs, *files.named_dirs))

    def _take_required(self) -> None:
        """Lay out what ``.pc`` files require and none has: Debian's dependencies may leave it out."""
        while wanted := [path for path, held in self._rest.items() if held.modules & _lacking(self.files)]:
            self._take(wanted[0])
            del self._rest[wanted[0]]

    def _take(self, path: Path) -> None:
        with open_input(path) as package, damage_told(str(path)):
            allow_more(package.size)
            found = lay_out(self._access.entries(package), self._folder / str(len(self.files)), str(path))
            identity = self._access.identity(package)
            package.check_unchanged()
        self.files.append(msgspec.structs.replace(found, identity=identity, file=path.name))

    def _held(self, path: Path) -> _Held:
        with open_input(path) as package, damage_told(str(path)):
            paths = [each.path for each in self._access.entries(package) if each.link is None]
        modules = frozenset(module_name(each) for each in paths if is_pkg_config(each))
        return _Held(modules, tuple(f"/{each}" for each in paths if INCLUDE in each.split("/")[:-1]))


def _folders_of(files: DevelopmentFiles, name: str) -> Iterator[Path]:
    """The folders of a package from which ``name`` leads to a header, the least deep first."""
    last = name.rpartition("/")[2]
    found = [each for root in files.roots for each in root.rglob(last) if str(each).endswith(f"/{name}")]
    found.sort(key=lambda each: (len(each.parts), str(each)))
    yield from (each.parents[name.count("/")] for each in found)


def _lacking(packages: Sequence[DevelopmentFiles]) -> frozenset[str]:
    """The ``.pc`` files that those of packages require and none has."""
    configs = [config for each in packages for config in each.configs]
    required = frozenset[str]().union(*(each.requires for each in configs))
    return required - {each.name for each in configs}
