"""The options of every command that reads libraries."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from abistore.cli.options.headers import GivenHeaderOptions, header_options
from abistore.cli.options.shared import FILE

if TYPE_CHECKING:
    from abistore.cli.progress import Advance
    from abistore.service.operands import Selection
    from abistore.service.snapshots import ExtractOptions, HeaderOptions


class PackageOptions(msgspec.Struct, frozen=True):
    """What to take of packages and folders, and the packages beside them."""

    only: tuple[str, ...] = ()
    debug_packages: tuple[Path, ...] = ()
    devel_packages: tuple[Path, ...] = ()
    old_devel_packages: tuple[Path, ...] = ()
    new_devel_packages: tuple[Path, ...] = ()
    package_indexes: tuple[Path, ...] = ()
    suite: str = ""

    @classmethod
    def taken(cls, named: dict[str, Any]) -> PackageOptions:
        """The values of the options, which are taken out of ``named``; not all commands have two sides."""
        return cls(
            only=named.pop("only"),
            debug_packages=named.pop("debug_package"),
            devel_packages=named.pop("devel_package"),
            old_devel_packages=named.pop("old_devel_package", ()),
            new_devel_packages=named.pop("new_devel_package", ()),
            package_indexes=named.pop("package_index"),
            suite=named.pop("suite", ""),
        )


class ExtractingOptions(msgspec.Struct, frozen=True):
    """How to read files, as the options say."""

    debug_dirs: tuple[Path, ...]
    debuginfod: bool
    symbols_only: bool
    packages: PackageOptions
    given: GivenHeaderOptions

    def options(
        self, library: str | None = None, version: str | None = None, progress: Advance | None = None
    ) -> ExtractOptions:
        """The same for the service. Without ``--header``, the headers are those of the project's file."""
        return self._options(self.given.headers() or self.given.configured(), library, version, progress)

    def selection(self, target: str | None, profile: str | None, progress: Advance | None) -> Selection:
        """How to read the sides of a comparison. The headers of the project's file are those of the new one."""
        from abistore.service.operands import Selection

        given = self.given
        both, old, new = given.headers(), given.headers("old"), given.headers("new")
        if not (both or old or new):
            new = given.configured()
        sides = (self.packages.old_devel_packages, self.packages.new_devel_packages)
        return Selection(target, profile, self._options(both, progress=progress), old, new, *sides)

    def _options(
        self,
        headers: HeaderOptions | None,
        library: str | None = None,
        version: str | None = None,
        progress: Advance | None = None,
    ) -> ExtractOptions:
        from abistore.service.snapshots import ExtractOptions

        return ExtractOptions(
            library=library,
            version=version,
            debug_dirs=self.debug_dirs,
            debuginfod=self.debuginfod,
            layout=not self.symbols_only,
            headers=headers,
            only=self.packages.only,
            debug_packages=self.packages.debug_packages,
            devel_packages=self.packages.devel_packages,
            package_indexes=self.packages.package_indexes,
            suite=self.packages.suite,
            progress=progress,
        )


def side_package_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the development packages of one side of a comparison."""
    for side, which in (("new", "NEW"), ("old", "OLD")):
        option = click.option(
            f"--{side}-devel-package",
            multiple=True,
            type=FILE,
            metavar="PACKAGE",
            help=f"Like --devel-package, for {which} alone. May be repeated.",
        )
        command = option(command)
    return command


PACKAGE_OPTIONS = (
    click.option(
        "--devel-package",
        multiple=True,
        type=FILE,
        metavar="PACKAGE",
        help="Read the headers of this package, or of those in a folder that the library needs. May be repeated.",
    ),
    click.option(
        "--package-index",
        multiple=True,
        type=FILE,
        metavar="FILE",
        help="Name the packages that have missing headers, by this index: Contents-amd64.gz. May be repeated.",
    ),
    click.option(
        "--debug-package",
        multiple=True,
        type=FILE,
        metavar="PACKAGE",
        help="Search this package or folder for the debug files of the libraries in a package. May be repeated.",
    ),
    click.option(
        "--only",
        multiple=True,
        metavar="PATTERN",
        help="Of a package or folder, read the libraries that this fits: a name, file name or path, such as "
        "libfoo or 'libfoo*'. May be repeated.",
    ),
)


def extract_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options, and pass their values as ``extracting``."""

    @wraps(command)
    def wrapped(*positional: Any, **named: Any) -> Any:
        extracting = ExtractingOptions(
            (*named.pop("pdb"), *named.pop("debug_dir")),
            named.pop("debuginfod"),
            named.pop("symbols_only"),
            PackageOptions.taken(named),
            GivenHeaderOptions.taken(named),
        )
        return command(*positional, **named, extracting=extracting)

    for option in (
        *PACKAGE_OPTIONS,
        click.option("--symbols-only", is_flag=True, help="Read the symbol tables only, no debug information."),
        click.option("--debuginfod", is_flag=True, help="Ask the servers of DEBUGINFOD_URLS for debug information."),
        click.option(
            "--pdb",
            multiple=True,
            type=FILE,
            metavar="FILE",
            help="The PDB file of a DLL, where it does not lie beside it. May be repeated.",
        ),
        click.option(
            "--debug-dir",
            multiple=True,
            type=FILE,
            metavar="FOLDER",
            help="Search this folder for separate debug files, as /usr/lib/debug is. May be repeated.",
        ),
    ):
        wrapped = option(wrapped)
    return header_options(wrapped)
