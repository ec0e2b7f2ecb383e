"""The options of commands that read libraries and headers, the policy, and the project's file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from abistore.cli.options import FILE, file_words, policy_words
from abistore.errors import UsageError
from abistore.files import project_file

if TYPE_CHECKING:
    from abistore.cli.output import Advance
    from abistore.service.operands import Selection
    from abistore.service.project import Configuration
    from abistore.service.snapshots import ExtractOptions, HeaderOptions

META = "abistore.project"

NOT_TAKEN = {("compare", "allow"), ("compare", "consumers"), ("compare", "library")}
"""What a command does not take of the file: two files that are compared are no releases of a line."""


def project_headers() -> HeaderOptions | None:
    """The headers that the project's file gives the command that runs; ``None`` without a file."""
    found: Configuration | None = click.get_current_context().meta.get(META)
    return found.headers if found else None


def project_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--config``, once: options that are not given default to what the project's file says."""
    if any(parameter.name == "config" for parameter in getattr(command, "__click_params__", ())):
        return command
    return click.option(
        "--config",
        type=FILE,
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_take,
        help="The project's file, which says what options default to.  [default: abistore.toml of the current folder]",
    )(command)


def _take(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Have the options of a command default to what the file says."""
    path = value or project_file()
    if ctx.resilient_parsing or path is None:
        return
    from abistore.service.project import configuration

    ctx.meta[META] = found = configuration(path)
    ctx.default_map = defaults(ctx.command, found)


def defaults(command: click.Command, said: Configuration) -> dict[str, Any]:
    """What the file says of each option of a command, by the name of the parameter."""
    return {name: value for name, key, value in places(command, said) if value not in (None, False, "", ())}


def places(command: click.Command, said: Configuration) -> Iterator[tuple[str, str, Any]]:
    """Each option of a command that has a place in the file: its parameter, the key, and what the file says."""
    own = getattr(said, command.name or "", None)
    for parameter in command.params:
        key = key_of(parameter)
        if parameter.name is None or (command.name, key) in NOT_TAKEN:
            continue
        if isinstance(own, msgspec.Struct) and key in own.__struct_fields__:
            yield parameter.name, f"{command.name}.{key}", getattr(own, key)
        elif key in said.__struct_fields__ and key not in {"path", "headers"}:
            yield parameter.name, key, getattr(said, key)


def key_of(parameter: click.Parameter) -> str:
    """The key that stands for an option: its first long name, as ``fail_on`` for ``--fail-on``."""
    if not isinstance(parameter, click.Option):
        return ""
    return next((name for name in parameter.opts if name.startswith("--")), "").removeprefix("--").replace("-", "_")


_policy_option = click.option(
    "--policy",
    metavar="NAME|FILE",
    shell_complete=policy_words,
    help="The policy: strict_abi, sdk_vendor, plugin_abi or a YAML file.  [default: strict_abi]",
)
_suppress_option = click.option(
    "--suppress",
    multiple=True,
    shell_complete=file_words,
    metavar="FILE",
    help="Take the findings that this file accepts out of the verdict: YAML, libabigail's INI, or "
    "skip-symbols:FILE or skip-types:FILE. May be repeated.",
)
strict_option = click.option(
    "--strict-suppressions", is_flag=True, help="Refuse suppressions that have expired or select no declaration."
)


def ruling_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--policy`` and the options of suppressions, and pass the ruling as ``by``."""

    @wraps(command)
    def wrapped(*positional: Any, **named: Any) -> Any:
        policy, suppress, strict = named.pop("policy"), named.pop("suppress"), named.pop("strict_suppressions")
        by = None
        if policy is not None or suppress:
            from abistore.service.ruling import ruling

            by = ruling(policy, suppress, strict=strict)
        return command(*positional, **named, by=by)

    return project_option(_policy_option(_suppress_option(strict_option(wrapped))))


def commit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--repository`` and ``--commit-url``, and pass where commits are looked up as ``commits``."""

    @wraps(command)
    def wrapped(*positional: Any, **named: Any) -> Any:
        from abistore.service.commits import CommitSource

        repository, url = named.pop("repository"), named.pop("commit_url")
        return command(*positional, **named, commits=CommitSource(repository, url or ""))

    for option in (
        click.option(
            "--commit-url",
            metavar="URL",
            help="The page of a commit: https://example.org/foo/commit/{revision}.",
        ),
        click.option(
            "--repository",
            type=FILE,
            metavar="FOLDER",
            help="A git checkout of the sources: show author, date and subject of the commit of a build.",
        ),
    ):
        wrapped = option(wrapped)
    return project_option(wrapped)


def show_only_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--show-only``, and pass the filter as ``shown``."""

    @wraps(command)
    def wrapped(*positional: Any, **named: Any) -> Any:
        from abistore.service.judging import show_only

        shown = show_only(named.pop("show_only"))
        return command(*positional, **named, shown=shown)

    return click.option(
        "--show-only",
        metavar="TOKENS",
        help="Show these changes only, e.g. breaking,risk,functions,removed: any of the impacts given, of the elements "
        "(functions, variables, types, enums, library) and of the actions (added, removed, changed). "
        "The verdict stays.",
    )(wrapped)


Command = Callable[..., Any]

_NAMES = {
    "header": "headers",
    "private_header": "private",
    "include_dir": "include_dirs",
    "define": "defines",
    "standard": "standard",
    "language": "language",
    "compile_commands": "compile_commands",
    "clang_target": "target",
    "sysroot": "sysroot",
    "clang_arg": "clang_args",
}
"""What each option is in :class:`HeaderOptions`."""

_SIDES = ("old_header", "new_header", "old_include_dir", "new_include_dir")


class GivenHeaderOptions(msgspec.Struct, frozen=True):
    """What the options say. ``sides`` has what is said of one side of a comparison alone."""

    said: dict[str, Any]
    sides: dict[str, Any]

    @classmethod
    def taken(cls, named: dict[str, Any]) -> GivenHeaderOptions:
        """What the options say, taken out of the arguments of a command."""
        said = {field: named.pop(option) for option, field in _NAMES.items()}
        sides = {option: value for option in _SIDES if (value := named.pop(option, ()))}
        return cls({field: value for field, value in said.items() if value}, sides)

    def headers(self, side: str = "") -> HeaderOptions | None:
        """The headers of both sides, or of one alone; ``None`` where the command line names none.

        Raises :class:`UsageError` for options that are about headers without any.
        """
        from abistore.service.snapshots import HeaderOptions

        said = dict(self.said)
        if side:
            said["headers"] = self.sides.get(f"{side}_header", ()) or self._shared(side)
            said["include_dirs"] = (*self.sides.get(f"{side}_include_dir", ()), *said.get("include_dirs", ()))
        return HeaderOptions.given(said.pop("headers", ()), **said)

    def _shared(self, side: str) -> tuple[Path, ...]:
        """The headers of both sides, for one that has include folders of its own."""
        shared: tuple[Path, ...] = self.said.get("headers", ())
        return shared if f"{side}_include_dir" in self.sides else ()

    def configured(self) -> HeaderOptions | None:
        """The headers of the project's file, with what the options say about them."""
        found = project_headers()
        if found is None:
            self._check_named()
            return None
        return msgspec.structs.replace(self._with_said(found), others=tuple(map(self._with_said, found.others)))

    def _with_said(self, headers: HeaderOptions) -> HeaderOptions:
        """The headers of one library, with what the options say about all."""
        more = {
            field: (*getattr(headers, field), *value) if isinstance(value, tuple) else value
            for field, value in self.said.items()
        }
        return msgspec.structs.replace(headers, **more)

    def _check_named(self) -> None:
        if self.said:
            option = next(option for option, field in _NAMES.items() if field in self.said)
            shown = {"standard": "std"}.get(option, option).replace("_", "-")
            raise UsageError(f"--{shown} is about headers, and none are given", "name them with --header")


def header_options(command: Command) -> Command:
    """Add the options; :meth:`GivenHeaderOptions.taken` takes their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return project_option(command)


def side_header_options(command: Command) -> Command:
    """Add the options for one side of a comparison. They stand above those for both."""
    for option in reversed(_SIDE_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--header",
        multiple=True,
        type=FILE,
        metavar="[LIBRARY=]FILE|FOLDER",
        help="A public header of the library, or the folder of all of them. May be repeated. Of a package with several "
        "libraries, LIBRARY says whose it is.",
    ),
    click.option(
        "--private-header",
        multiple=True,
        metavar="PATTERN",
        help="Headers in the folder that are not public, e.g. detail/* or *_p.h. May be repeated.",
    ),
    click.option(
        "--include-dir",
        multiple=True,
        type=FILE,
        metavar="FOLDER",
        help="A folder with what the headers include. May be repeated.",
    ),
    click.option(
        "--define",
        multiple=True,
        metavar="NAME[=VALUE]",
        help="A macro that consumers of the headers define. May be repeated.",
    ),
    click.option("--std", "standard", metavar="STANDARD", help="The standard of the headers, e.g. c++20 or gnu17."),
    click.option(
        "--language", type=click.Choice(("c", "c++")), help="The language of the headers; by default told from them."
    ),
    click.option(
        "--compile-commands",
        type=FILE,
        metavar="FILE",
        help="Take include folders, macros and the standard from this compile_commands.json.",
    ),
    click.option(
        "--clang-target", metavar="TRIPLE", help="Read the headers for this platform; by default for the library's."
    ),
    click.option("--sysroot", type=FILE, metavar="FOLDER", help="The folder with the system of that platform."),
    click.option(
        "--clang-arg", multiple=True, metavar="ARGUMENT", help="Pass this argument on to clang. May be repeated."
    ),
)

_SIDE_OPTIONS = (
    click.option("--old-header", multiple=True, type=FILE, metavar="FILE|FOLDER", help="Like --header, for OLD alone."),
    click.option("--new-header", multiple=True, type=FILE, metavar="FILE|FOLDER", help="Like --header, for NEW alone."),
    click.option(
        "--old-include-dir", multiple=True, type=FILE, metavar="FOLDER", help="Like --include-dir, for OLD alone."
    ),
    click.option(
        "--new-include-dir", multiple=True, type=FILE, metavar="FOLDER", help="Like --include-dir, for NEW alone."
    ),
)


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
