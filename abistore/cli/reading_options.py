"""The options of verbs that read libraries and headers, the policy, and the project's file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import click
import msgspec

from abistore.arguments import (
    BuildProfile,
    BuildVersion,
    Described,
    Headers,
    IncludeFolders,
    Language,
    NamedLibrary,
    Only,
    Policy,
    Released,
    Suppressions,
    VersionSource,
)
from abistore.cli.options import FILE
from abistore.cli.verbs import Options
from abistore.errors import UsageError
from abistore.files import project_file

if TYPE_CHECKING:
    from abistore.cli.output import Advance
    from abistore.service.commits import CommitSource
    from abistore.service.project import Configuration
    from abistore.service.ruling import Ruling
    from abistore.service.signatures import Trust
    from abistore.service.snapshots import ExtractOptions, HeaderOptions, Selection

META = "abistore.project"

NOT_TAKEN = {
    ("compare", "allow"),
    ("compare", "consumers"),
    ("compare", "library"),
    ("export", "channel"),
    ("verdict", "library"),
}
"""What a command does not take of the file: two files that are compared are no releases of a line, only a bundle has a
channel, and ``verdict --library`` names a file."""


def project_headers() -> HeaderOptions | None:
    """The headers that the project's file gives the command that runs; ``None`` without a file."""
    found: Configuration | None = click.get_current_context().meta.get(META)
    return found.headers if found else None


def _take(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Have the options of a command default to what the file says."""
    path = value or project_file()
    if ctx.resilient_parsing or path is None:
        return
    from abistore.service.project import configuration

    ctx.meta[META] = found = configuration(path)
    ctx.default_map = defaults(ctx.command, found)


CONFIG_OPTION = click.Option(
    ["--config"],
    type=FILE,
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_take,
    help="The project's file with defaults for options.  [default: abistore.toml of the current folder]",
)


def defaults(command: click.Command, said: Configuration) -> dict[str, Any]:
    """What the file says of each option of a command, by the name of the parameter."""
    unsaid = {name: value for name, _, value in places(command, type(said)())}
    return {name: value for name, _, value in places(command, said) if value != unsaid[name]}


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
            value = getattr(said, key)
            yield parameter.name, key, (value,) if parameter.multiple and isinstance(value, str) else value


def key_of(parameter: click.Parameter) -> str:
    """The key that stands for an option: its first long name, as ``fail_on`` for ``--fail-on``."""
    if not isinstance(parameter, click.Option):
        return ""
    return next((name for name in parameter.opts if name.startswith("--")), "").removeprefix("--").replace("-", "_")


class LineOptions(Options, frozen=True):
    """Which of the lines of a library is meant."""

    title: ClassVar[str] = "Platform and profile"
    target: Annotated[
        str | None,
        Described(
            "The platform, if the library has several: elf-x86_64-64-little, or just x86_64.", ("--target", "--arch")
        ),
    ] = None
    profile: Annotated[str | None, Described("The build profile, if the library has several.")] = None


class JudgingOptions(Options, frozen=True):
    """The policy, and what is not ABI."""

    title: ClassVar[str] = "Policy and suppressions"
    beside: ClassVar[tuple[click.Option, ...]] = (CONFIG_OPTION,)
    policy: Policy = None
    suppress: Suppressions = ()
    strict_suppressions: Annotated[
        bool | None,
        Described(
            "Reject suppressions that have expired or select no declaration.",
            ("--strict-suppressions/--no-strict-suppressions",),
            default="strict in gates",
        ),
    ] = None

    def ruling(self, *, gate: bool = False) -> Ruling | None:
        """The policy that is asked for; ``None`` for the strict one alone. A ``gate`` is strict about suppressions."""
        if self.policy is None and not self.suppress:
            return None
        from abistore.service.ruling import ruling

        return ruling(
            self.policy, self.suppress, strict=gate if self.strict_suppressions is None else self.strict_suppressions
        )


class TrustOptions(Options, frozen=True):
    """Whose signatures count."""

    title: ClassVar[str] = "Signatures"
    beside: ClassVar[tuple[click.Option, ...]] = (CONFIG_OPTION,)
    allowed_signers: Annotated[
        Path | None,
        Described(
            "The keys that are trusted, as ssh-keygen(1) lists allowed signers. None is trusted without it.",
            metavar="FILE",
            complete="file",
            variable="ABISTORE_ALLOWED_SIGNERS",
        ),
    ] = None
    revoked_signers: Annotated[
        Path | None,
        Described(
            "Public keys that are trusted no more, one a line, whenever they signed.",
            metavar="FILE",
            complete="file",
            variable="ABISTORE_REVOKED_SIGNERS",
        ),
    ] = None

    def trust(self) -> Trust:
        """The trust that they declare. Raises :class:`UsageError` where nobody is trusted."""
        from abistore.service.signatures import trust

        return trust(self.allowed_signers, self.revoked_signers)


class CommitOptions(Options, frozen=True):
    """Where the commits of builds are looked up."""

    title: ClassVar[str] = "Commits"
    beside: ClassVar[tuple[click.Option, ...]] = (CONFIG_OPTION,)
    repository: Annotated[
        Path | None,
        Described(
            "A git checkout of the sources, to show author, date and subject of a build's commit.",
            metavar="FOLDER",
            main=True,
        ),
    ] = None
    commit_url: Annotated[
        str | None,
        Described("The URL of a commit: https://example.org/foo/commit/{revision}.", metavar="URL"),
    ] = None

    def source(self) -> CommitSource:
        """The same for the service."""
        from abistore.service.commits import CommitSource

        return CommitSource(self.repository, self.commit_url or "")


Paths: TypeAlias = tuple[Path, ...]

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


class SideOptions(Options, frozen=True):
    """What is said of the headers and packages of one side of a comparison."""

    title: ClassVar[str] = "Headers of one side"
    old_header: Annotated[Paths, Described("Like --header, for OLD alone.", metavar="FILE|FOLDER", main=True)] = ()
    new_header: Annotated[Paths, Described("Like --header, for NEW alone.", metavar="FILE|FOLDER", main=True)] = ()
    old_include_dir: Annotated[Paths, Described("Like --include-dir, for OLD alone.", metavar="FOLDER")] = ()
    new_include_dir: Annotated[Paths, Described("Like --include-dir, for NEW alone.", metavar="FOLDER")] = ()
    old_devel_package: Annotated[
        Paths, Described("Like --devel-package, for OLD alone. May be repeated.", metavar="PACKAGE")
    ] = ()
    new_devel_package: Annotated[
        Paths, Described("Like --devel-package, for NEW alone. May be repeated.", metavar="PACKAGE")
    ] = ()


class HeaderArguments(Options, frozen=True):
    """The public headers, and how they are read."""

    title: ClassVar[str] = "Headers"
    beside: ClassVar[tuple[click.Option, ...]] = (CONFIG_OPTION,)
    header: Headers = ()
    private_header: Annotated[
        tuple[str, ...],
        Described("Private headers in the folder, e.g. detail/* or *_p.h. May be repeated.", metavar="PATTERN"),
    ] = ()
    include_dir: IncludeFolders = ()
    define: Annotated[
        tuple[str, ...],
        Described("A macro that consumers of the headers define. May be repeated.", metavar="NAME[=VALUE]"),
    ] = ()
    standard: Annotated[
        str | None,
        Described("The standard of the headers, e.g. c++20 or gnu17.", ("--std", "standard"), metavar="STANDARD"),
    ] = None
    language: Language = None
    compile_commands: Annotated[
        Path | None,
        Described("Read include folders, macros and the standard from this compile_commands.json.", metavar="FILE"),
    ] = None
    clang_target: Annotated[
        str | None,
        Described("Read the headers for this platform; by default for the library's.", metavar="TRIPLE"),
    ] = None
    sysroot: Annotated[Path | None, Described("The sysroot of that platform.", metavar="FOLDER")] = None
    clang_arg: Annotated[
        tuple[str, ...], Described("Pass this argument to clang. May be repeated.", metavar="ARGUMENT")
    ] = ()

    def said(self) -> dict[str, Any]:
        """What is said of them, by the names of :class:`HeaderOptions`."""
        return {field: value for option, field in _NAMES.items() if (value := getattr(self, option))}

    def named(self, sides: SideOptions | None = None, side: str = "") -> HeaderOptions | None:
        """The headers of both sides, or of one alone; ``None`` where the command line names none.

        Raises :class:`UsageError` for options that are about headers without any.
        """
        from abistore.service.snapshots import HeaderOptions

        said = self.said()
        if side:
            own, folders = getattr(sides, f"{side}_header"), getattr(sides, f"{side}_include_dir")
            said["headers"] = own or (said.get("headers", ()) if folders else ())
            said["include_dirs"] = (*folders, *said.get("include_dirs", ()))
        return HeaderOptions.given(said.pop("headers", ()), **said)

    def configured(self) -> HeaderOptions | None:
        """The headers of the project's file, with what the options say about them."""
        found = project_headers()
        if found is None:
            self._check_named()
            return None
        return msgspec.structs.replace(self._with_said(found), others=tuple(map(self._with_said, found.others)))

    def _with_said(self, headers: HeaderOptions) -> HeaderOptions:
        more = {
            field: (*getattr(headers, field), *value) if isinstance(value, tuple) else value
            for field, value in self.said().items()
        }
        return msgspec.structs.replace(headers, **more)

    def _check_named(self) -> None:
        said = self.said()
        if said:
            option = next(option for option, field in _NAMES.items() if field in said)
            shown = {"standard": "std"}.get(option, option).replace("_", "-")
            raise UsageError(f"--{shown} needs headers", "pass --header")


class ReadingOptions(HeaderArguments, frozen=True):
    """How files are read: headers, debug information, and what is taken of packages."""

    title: ClassVar[str] = "Headers, debug information and packages"
    debug_dir: Annotated[
        Paths,
        Described(
            "Search this folder for separate debug files, like /usr/lib/debug. May be repeated.", metavar="FOLDER"
        ),
    ] = ()
    pdb: Annotated[
        Paths,
        Described("The PDB file of a DLL, if it is in another folder. May be repeated.", metavar="FILE"),
    ] = ()
    debuginfod: Annotated[bool, Described("Query the servers in DEBUGINFOD_URLS for debug information.")] = False
    symbols_only: Annotated[bool, Described("Read only the symbol tables, no debug information.")] = False
    only: Only = ()
    debug_package: Annotated[
        Paths,
        Described(
            "Search this package or folder for debug files of packaged libraries. May be repeated.",
            metavar="PACKAGE",
        ),
    ] = ()
    package_index: Annotated[
        Paths,
        Described(
            "Find packages with missing headers in this index: Contents-amd64.gz. May be repeated.",
            metavar="FILE",
        ),
    ] = ()
    devel_package: Annotated[
        Paths,
        Described(
            "Read the headers of this package, or of the needed ones in a folder. May be repeated.",
            metavar="PACKAGE",
        ),
    ] = ()

    def options(
        self,
        library: str | None = None,
        version: str | None = None,
        progress: Advance | None = None,
        suite: str = "",
    ) -> ExtractOptions:
        """The same for the service. Without ``--header``, the headers are those of the project's file."""
        read = self._options(self.named() or self.configured(), progress)
        return msgspec.structs.replace(read, library=library, version=version, suite=suite)

    def selection(self, sides: SideOptions, line: LineOptions, progress: Advance | None) -> Selection:
        """How to read the sides of a comparison. The headers of the project's file are those of the new one."""
        from abistore.service.snapshots import Selection

        both, old, new = self.named(), self.named(sides, "old"), self.named(sides, "new")
        if not (both or old or new):
            new = self.configured()
        packages = sides.old_devel_package, sides.new_devel_package
        return Selection(line.target, line.profile, self._options(both, progress), old, new, *packages)

    def _options(self, headers: HeaderOptions | None, progress: Advance | None) -> ExtractOptions:
        from abistore.service.snapshots import ExtractOptions

        return ExtractOptions(
            debug_dirs=(*self.pdb, *self.debug_dir),
            debuginfod=self.debuginfod,
            layout=not self.symbols_only,
            headers=headers,
            only=self.only,
            debug_packages=self.debug_package,
            devel_packages=self.devel_package,
            package_indexes=self.package_index,
            progress=progress,
        )


class BuildOptions(Options, frozen=True):
    """What a file is that is stored or judged."""

    title: ClassVar[str] = "What the files are"
    library: NamedLibrary = None
    version: BuildVersion = None
    version_from: VersionSource = None
    target: Annotated[
        str | None,
        Described(
            "Reject files for another platform: elf-x86_64-64-little, or just x86_64. Selects this one in a "
            "universal file.",
            ("--target", "--arch"),
        ),
    ] = None
    profile: BuildProfile = None

    def words(self) -> dict[str, Any]:
        """The same for the service."""
        return {name: getattr(self, name) for name in BuildOptions.__struct_fields__}

    def options(self, reading: ReadingOptions, progress: Advance | None = None, suite: str = "") -> ExtractOptions:
        """How the files are read."""
        return reading.options(self.library, self.version, progress, suite)


class FactOptions(Options, frozen=True):
    """Facts about a release that no binary tells."""

    title: ClassVar[str] = "Facts about the release"
    revision: Annotated[str | None, Described("The source revision of the build.")] = None
    url: Annotated[str | None, Described("The URL of the build's CI job.")] = None
    released: Released = None
