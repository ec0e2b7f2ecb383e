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
        "A public header of the library, or the folder of all of them. May be repeated. Of a package with several "
        "libraries, LIBRARY says whose it is.",
        metavar="[LIBRARY=]FILE|FOLDER",
        agents="Files or folders",
        main=True,
    ),
]
IncludeFolders: TypeAlias = Annotated[
    tuple[Path, ...],
    Described(
        "A folder with what the headers include. May be repeated.",
        metavar="FOLDER",
        agents="Of what they include",
        main=True,
    ),
]
Language: TypeAlias = Annotated[
    Literal["c", "c++"] | None,
    Described("The language of the headers; by default told from them.", agents="Of the headers"),
]
Only: TypeAlias = Annotated[
    tuple[str, ...],
    Described(
        "Of a package or folder, read the libraries that this fits: a name, file name or path, such as libfoo or "
        "'libfoo*'. May be repeated.",
        metavar="PATTERN",
        agents="Of several: library or target",
    ),
]
OptionalLibrary: TypeAlias = Annotated[str | None, Described(complete="library")]
ReleaseName: TypeAlias = Annotated[str, Described(complete="reference")]
Operand: TypeAlias = Annotated[str, Described(complete="operand", agents="libfoo@1.2.0, @baseline; or absolute path")]
NamedLibrary: TypeAlias = Annotated[
    str | None, Described("The library's name; by default its SONAME's stem.", complete="library")
]
SearchedLibrary: TypeAlias = Annotated[
    str | None, Described("Search this library only, instead of all.", complete="library")
]
FindingLibrary: TypeAlias = Annotated[
    str | None, Described("The library, if several have such a finding.", complete="library")
]
FindingIdentity: TypeAlias = Annotated[str, Described(complete="finding")]
FindingIdentities: TypeAlias = Annotated[tuple[str, ...], Described(complete="finding", metavar="FINDING...")]

Actor: TypeAlias = Annotated[str, Described("Who does it, for the audit; by default the user's name.")]
Reason: TypeAlias = Annotated[str, Described("Why, for the audit.")]
Channel: TypeAlias = Annotated[
    str, Described("The baseline channel that releases are judged against.", complete="channel")
]
Output: TypeAlias = Annotated[
    Path | None,
    Described("Write to this file instead of standard output.", ("-o", "--output"), complete="file"),
]
DryRun: TypeAlias = Annotated[bool, Described("Say what would change, and write nothing.")]

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
    "Which releases may break and pass: `scheme` what the line promises (a bumped SONAME; a major label too where "
    "semver is declared), `breaking-on-soname-bump` the SONAME alone, `package` the SONAME together with the "
    "package's name, `major` the label alone, `never` none.",
    agents="Or breaking-on-soname-bump, package, major, never",
)
Allow: TypeAlias = Annotated[AllowWord, ALLOW]
Require: TypeAlias = Annotated[
    str | None,
    Described(
        "Evidence that both sides must have in full, else exit with 72: some of symbol,layout,source. `old` requires "
        "no less than the old side has, `none` nothing.",
        metavar="FACETS",
    ),
]
ConsumersToo: TypeAlias = Annotated[
    bool, Described("Name the stored programs that each break hurts (`abistore consumers add`).")
]
ShowOnly: TypeAlias = Annotated[
    str | None,
    Described(
        "Show these changes only, e.g. breaking,risk,functions,removed: any of the impacts given, of the elements "
        "(functions, variables, types, enums, library) and of the actions (added, removed, changed). "
        "The verdict stays.",
        metavar="TOKENS",
    ),
]
VersionSource: TypeAlias = Annotated[
    Literal["filename", "folder", "soname"] | None,
    Described(
        "Take each version from the file's name (libz.so.1.3.1), its folder's (1.3.1/lib/libz.so) or the SONAME; "
        "files whose paths give their versions are taken oldest first.",
    ),
]


def described(hint: Any) -> Described:
    """What an annotation says of an argument."""
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Described)), Described())
