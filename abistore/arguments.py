"""How an argument of a verb is described, and the arguments that several verbs take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias


class Described(NamedTuple):
    """What is said of an argument beside its name, type and default, which a signature gives.

    ``complete`` names what a shell offers, ``default`` tells a default that is decided later, ``bare`` is the value of
    an option without one, and ``agents`` the shorter text for agents. ``main`` has ``--help`` show an option of a
    group, too; ``raw`` words are passed on unread.
    """

    help: str = ""
    names: tuple[str, ...] = ()
    metavar: str | None = None
    complete: str = ""
    default: str = ""
    variable: str = ""
    least: int | None = None
    most: int | None = None
    bare: str | None = None
    choices: Callable[[], tuple[str, ...]] | None = None
    check: Callable[[Any], Any] | None = None
    agents: str = ""
    main: bool = False
    raw: bool = False


LibraryName: TypeAlias = Annotated[str, Described(complete="library", agents="As stored, e.g. libfoo")]
Headers: TypeAlias = Annotated[
    tuple[Path, ...],
    Described(
        "A public header of the library, or the folder that contains them. May be repeated. In a package with "
        "several libraries, LIBRARY selects one.",
        metavar="[LIBRARY=]FILE|FOLDER",
        agents="Files or folders",
        main=True,
    ),
]
IncludeFolders: TypeAlias = Annotated[
    tuple[Path, ...],
    Described(
        "An include folder for the headers. May be repeated.",
        metavar="FOLDER",
        agents="Their include folders",
        main=True,
    ),
]
Language: TypeAlias = Annotated[
    Literal["c", "c++"] | None,
    Described("The language of the headers; by default detected.", agents="The language of the headers"),
]
Only: TypeAlias = Annotated[
    tuple[str, ...],
    Described(
        "In a package or folder, read only the libraries that match this name, file name or path, e.g. libfoo or "
        "'libfoo*'. May be repeated.",
        metavar="PATTERN",
        agents="Library or target, of several",
    ),
]
LibraryNames: TypeAlias = Annotated[tuple[str, ...], Described(metavar="LIBRARY|PATTERN...", complete="library")]
EveryLibrary: TypeAlias = Annotated[bool, Described("Every stored library.", ("--all", "every"))]
OptionalLibrary: TypeAlias = Annotated[str | None, Described(complete="library")]
ReleaseName: TypeAlias = Annotated[str, Described(complete="reference")]
Operand: TypeAlias = Annotated[str, Described(complete="operand", agents="libfoo@1.2.0, @baseline; or absolute path")]
NamedLibrary: TypeAlias = Annotated[
    str | None, Described("The library's name; by default its SONAME's stem.", complete="library")
]
SearchedLibrary: TypeAlias = Annotated[
    str | None, Described("Search only this library instead of all.", complete="library")
]
SearchedLibraries: TypeAlias = Annotated[
    tuple[str, ...],
    Described(
        "Search only this library, or those that a pattern matches. May be repeated.",
        ("--library", "libraries"),
        metavar="LIBRARY|PATTERN",
        complete="library",
    ),
]
FindingLibrary: TypeAlias = Annotated[
    str | None, Described("The library, if several have this finding.", complete="library")
]
FindingIdentity: TypeAlias = Annotated[str, Described(complete="finding")]
FindingIdentities: TypeAlias = Annotated[tuple[str, ...], Described(complete="finding", metavar="FINDING...")]

Actor: TypeAlias = Annotated[str, Described("The person responsible, for the audit; by default the user's name.")]
Reason: TypeAlias = Annotated[str, Described("The reason, for the audit.")]
Channel: TypeAlias = Annotated[
    str, Described("The baseline channel that releases are judged against.", complete="channel")
]
Output: TypeAlias = Annotated[
    Path | None,
    Described("Write to this file instead of standard output.", ("-o", "--output"), complete="file"),
]
DryRun: TypeAlias = Annotated[bool, Described("Show what would change, and write nothing.")]

FailOn: TypeAlias = Annotated[
    Literal["breaking", "api_break", "risk", "never"],
    Described("Fail (exit code 2 or 4) from this severity on.", agents="Mildest that fails", main=True),
]
Policy: TypeAlias = Annotated[
    str | None,
    Described(
        "The policy: strict_abi, sdk_vendor, plugin_abi or a YAML file.",
        metavar="NAME|FILE",
        complete="policy",
        default="strict_abi",
        agents="Built-in",
        main=True,
    ),
]
AllowWord: TypeAlias = Literal["scheme", "breaking-on-soname-bump", "package", "major", "never"]
ALLOW = Described(
    "Which releases may break: `scheme` those that the line's versioning allows (a SONAME bump, with declared "
    "semver also a major version), `breaking-on-soname-bump` a SONAME bump, `package` a bump of SONAME and "
    "package name, `major` a major version, `never` none.",
    agents="Or breaking-on-soname-bump, package, major, never",
)
Allow: TypeAlias = Annotated[AllowWord, ALLOW]
Require: TypeAlias = Annotated[
    str | None,
    Described(
        "Evidence that both sides must have completely, else exit with 72: some of symbol,layout,source. `old` "
        "requires the evidence of the old side, `none` nothing.",
        metavar="FACETS",
    ),
]
ConsumersToo: TypeAlias = Annotated[
    bool, Described("List the stored programs that each break affects (`abistore consumers add`).")
]
ShowOnly: TypeAlias = Annotated[
    str | None,
    Described(
        "Show only these changes, e.g. breaking,risk,functions,removed: impacts, elements (functions, variables, "
        "types, enums, library) and actions (added, removed, changed). The verdict does not change.",
        metavar="TOKENS",
    ),
]
VersionSource: TypeAlias = Annotated[
    Literal["filename", "folder", "soname"] | None,
    Described(
        "Take each version from the file name (libz.so.1.3.1), the folder (1.3.1/lib/libz.so) or the SONAME. "
        "Files with versions in their paths are ingested oldest first.",
    ),
]


def described(hint: Any) -> Described:
    """What an annotation says of an argument."""
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Described)), Described())
