"""How an argument of a verb is described, and the arguments that several verbs take."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args, get_origin


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
    Described("The language of the headers; by default detected.", agents="Language of headers"),
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
    str | None,
    Described("The library's name; by default its SONAME's stem.", complete="library", agents="Else its SONAME's stem"),
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
FindingIdentity: TypeAlias = Annotated[
    str, Described(complete="finding", agents="id of a finding, or its first digits")
]
FindingIdentities: TypeAlias = Annotated[
    tuple[str, ...], Described(complete="finding", metavar="FINDING...", agents="Ids, or first digits")
]
ExplainedName: TypeAlias = Annotated[
    str, Described(metavar="KIND|FINDING", complete="explained", agents="e.g. type_size_changed")
]
KindImpact: TypeAlias = Annotated[
    Literal["breaking", "api_break", "risk", "compatible", "notice", "advice"] | None,
    Described("Show only kinds with this impact.", agents="Default impact"),
]
KindElement: TypeAlias = Annotated[
    Literal["functions", "variables", "types", "enums", "library"] | None,
    Described("Show only kinds about these elements.", agents="About these"),
]
ShownName: TypeAlias = Annotated[
    str | None,
    Described(complete="declaration", metavar="[NAME|PATTERN]", agents="Source name, symbol, or prefix: foo_*"),
]
UsedName: TypeAlias = Annotated[str, Described(agents="Who uses this symbol or type of library")]
LoggedName: TypeAlias = Annotated[str, Described(agents="As in the source (geo::Point), or mangled")]

Actor: TypeAlias = Annotated[str, Described("The person responsible, for the audit; by default the user's name.")]
Reason: TypeAlias = Annotated[str, Described("The reason, for the audit.", agents="Why, for the audit")]
Channel: TypeAlias = Annotated[
    str,
    Described("The baseline channel that releases are judged against.", complete="channel", agents="Which baseline"),
]
ExpectedVersion: TypeAlias = Annotated[
    str | None,
    Described(
        "Move it only from this version; `none`: only if it is not set.",
        metavar="VERSION",
        agents="Version that it is at, or none; else STALE_BASELINE",
    ),
]
Output: TypeAlias = Annotated[
    Path | None,
    Described("Write to this file instead of standard output.", ("-o", "--output"), complete="file"),
]
DryRun: TypeAlias = Annotated[
    bool, Described("Show what would change, and write nothing.", agents="Only show what would happen")
]

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
    agents="Releases that may break",
)
Allow: TypeAlias = Annotated[AllowWord, ALLOW]
Require: TypeAlias = Annotated[
    str | None,
    Described(
        "Evidence that both sides must have completely, else exit with 72: some of symbol,layout,source. `old` "
        "requires the evidence of the old side, `none` nothing.",
        metavar="FACETS",
        agents="symbol, layout, source, old or none",
    ),
]
MODE = Described(
    "For text and markdown: full lists all changes, leaf groups them by declaration, impact shows affected exports, "
    "stat is one line.",
    agents="leaf: grouped by declaration",
)
ConsumersToo: TypeAlias = Annotated[
    bool, Described("List the stored programs that each break affects (`abistore consumers add`).")
]
WitnessToo: TypeAlias = Annotated[
    bool, Described("Show each break by a program that an old user could have written (`abistore witness`).")
]
ShowOnly: TypeAlias = Annotated[
    str | None,
    Described(
        "Show only these changes, e.g. breaking,risk,functions,removed: impacts, elements (functions, variables, "
        "types, enums, library) and actions (added, removed, changed). The verdict does not change.",
        metavar="TOKENS",
        agents="Display only, e.g. breaking,functions,removed",
    ),
]
VersionSource: TypeAlias = Annotated[
    Literal["filename", "folder", "soname"] | None,
    Described(
        "Take each version from the file name (libz.so.1.3.1), the folder (1.3.1/lib/libz.so) or the SONAME. "
        "Files with versions in their paths are ingested oldest first.",
    ),
]
Suppressions: TypeAlias = Annotated[
    tuple[str, ...],
    Described(
        "Apply the suppressions in this file: YAML, libabigail's INI, or skip-symbols:FILE or skip-types:FILE. May be "
        "repeated.",
        metavar="FILE",
        complete="file",
        agents="YAML or INI file",
    ),
]
WINDOW = Described(
    "How long a declaration must be deprecated in headers before it may be removed: '2 minor', '1 major', '3 releases' "
    "or '180 days'.",
    metavar="WINDOW",
    agents="Window: 2 minor",
)
Against: TypeAlias = Annotated[
    str | None,
    Described(
        "The release to compare with: prev, baseline, baseline:CHANNEL or a version.",
        metavar="WHAT",
        complete="against",
        default="prev",
        agents="baseline[:CHANNEL], prev or a version",
    ),
]
MergeBase: TypeAlias = Annotated[
    str | None,
    Described(
        "The source revision or version that the change is based on. It separates new breaks from existing ones. A "
        "build of it must be stored (ingest --revision).",
        metavar="REVISION|VERSION",
        main=True,
        agents="Revision it was made from",
    ),
]
AddedSince: TypeAlias = Annotated[
    str | None,
    Described(
        "With --exports or --types: only those added in this release or later.",
        metavar="VERSION",
        complete="since",
        agents="Lists only what was added then or later",
    ),
]
RunningProgram: TypeAlias = Annotated[
    str | None,
    Described(
        "Show the releases that this program (a file or a stored consumer) can run with.",
        metavar="FILE|NAME",
        agents="Releases it runs on: stored name, or absolute path",
    ),
]
HeaderPatch: TypeAlias = Annotated[
    Path | None,
    Described("A unified diff of the headers in --header.", metavar="FILE", agents="Unified diff of the headers"),
]
Declarations: TypeAlias = Annotated[
    tuple[str, ...],
    Described(
        "A declaration that replaces the one with the same name, e.g. 'struct point { int x, y, z; };'. May be "
        "repeated.",
        metavar="TEXT",
        agents="Replaces its namesake",
    ),
]

BuildVersion: TypeAlias = Annotated[
    str | None, Described("The release's version, for all files.", main=True, agents="Label as a string")
]
BuildProfile: TypeAlias = Annotated[
    str | None,
    Described("The build profile, e.g. debug or musl.", default="default", agents="Build profile, e.g. debug"),
]
Released: TypeAlias = Annotated[datetime | None, Described("The date of the release.", agents="YYYY-MM-DD")]
Tags: TypeAlias = Annotated[
    tuple[str, ...],
    Described("Tag the release, e.g. lts. May be repeated.", agents="Words for the release, e.g. lts"),
]
ExpectedDigest: TypeAlias = Annotated[
    str | None,
    Described(
        "Reject a file whose digest does not begin with these digits.", agents="Refuse another file: digest of abi_dump"
    ),
]
StoredDigest: TypeAlias = Annotated[
    str | None,
    Described("Remove it only if its digest begins with these digits.", agents="Its digest, from abi_list"),
]
AdmittedAgainst: TypeAlias = Annotated[
    str | None,
    Described(
        "Compare each file with baseline, baseline:CHANNEL, prev, latest or a version. A file that fails is not "
        "stored.",
        metavar="WHAT",
        complete="against",
        main=True,
        agents="Gate: baseline, baseline:CHANNEL, prev, latest or a version",
    ),
]
KeepFailed: TypeAlias = Annotated[
    bool,
    Described(
        "Keep a file that fails as a candidate: libfoo@candidate:VERSION.",
        agents="Keep what fails its gate as a candidate",
    ),
]
Tag: TypeAlias = Annotated[str, Described(agents="A word, e.g. lts")]
Note: TypeAlias = Annotated[str, Described("A note about it.", agents="What to know about it")]
ReviewWord: TypeAlias = Annotated[
    Literal["open", "seen", "intended", "defect"],
    Described("Reviewed, intended, or to be fixed; `open` removes the review.", agents="open takes a review back"),
]

ApprovalReason: TypeAlias = Annotated[
    str, Described("The reason for accepting the break. Every report shows it.", agents="Why, for every report")
]
Ticket: TypeAlias = Annotated[str, Described("The discussion: LIB-7, or a URL.", agents="Where it was discussed")]
Until: TypeAlias = Annotated[
    str,
    Described(
        "When the approval expires: after this date (2026-12-31), this version (2.1) or this SONAME (libfoo.so.1). "
        "Prefix it with date:, version: or soname: if it is ambiguous.",
        metavar="DATE|VERSION|SONAME",
        default="until it is withdrawn",
        agents="Last day, version or SONAME",
    ),
]
Scope: TypeAlias = Annotated[
    str,
    Described(
        "release[:VERSION] (by default the release with the finding), branch[:CHANNEL] (comparisons with this "
        "baseline; by default the channel `release`), or forever (every release).",
        metavar="SCOPE",
        agents="release:VERSION or branch:CHANNEL; else everywhere",
    ),
]
ApprovedTarget: TypeAlias = Annotated[
    str,
    Described(
        "The platform that it applies to: elf-x86_64-64-little, just x86_64, or all. Required if the library is stored "
        "for several.",
        agents="Platform, or all; else the comparison's",
    ),
]
ApprovedProfile: TypeAlias = Annotated[
    str,
    Described(
        "The build profile that it applies to, or all. Required if the library is stored in several.",
        agents="Build profile, or all, of several",
    ),
]


def described(hint: Any) -> Described:
    """What an annotation says of an argument."""
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Described)), Described())


def choices(hint: Any) -> tuple[str, ...]:
    """The words that an argument may be; none for one that may be any."""
    said, (kind, *_) = described(hint), get_args(hint)
    if said.choices is not None:
        return said.choices()
    literals = (each for each in (kind, *get_args(kind)) if get_origin(each) is Literal)
    return next((get_args(each) for each in literals), ())
