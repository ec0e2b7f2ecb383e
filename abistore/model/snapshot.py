"""One library's ABI at one moment: what each kind of evidence saw, where it came from, and its digest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec.structs import force_setattr

from abistore.model.declarations import FACETS, SELF, Declared, Facet, Name, blake2b, by_name
from abistore.model.shapes import AnyShape, AskedCompiler, HeadersMode, Library, Opaque, Symbol, UntakenBranch

Variants: TypeAlias = tuple[AnyShape, ...]
"""The shapes that one name has in one facet: one, or several where units disagree or a symbol has several versions.

Sorted by their canonical encoding (see :func:`abistore.model.snapshot.sort_variants`), without repetition.
"""

Entries: TypeAlias = Mapping[Facet, Mapping[Name, Variants]]
"""What was seen. A facet that is missing was not observed at all; an empty one was, and nothing was there."""


def hide_secrets(struct: msgspec.Struct, *fields: str) -> None:
    """Take the passwords and tokens of URLs out of texts of ``struct``."""
    for field in fields:
        if text := getattr(struct, field):
            from abistore.urls import masked  # few snapshots have such a text

            force_setattr(struct, field, masked(text))


LINUX = frozenset({"sysv", "gnu", "linux"})
"""The OS ABIs that are one platform."""

ORDINARY: Mapping[str, frozenset[str]] = {"elf": LINUX, "pe": frozenset({"windows"}), "macho": frozenset({"macos"})}
"""The platforms that go without saying, for each format."""


def usual_machine(word: str) -> str:
    """A machine's name here, for what Apple or Microsoft call it."""
    return {"arm64": "aarch64", "amd64": "x86_64", "x64": "x86_64"}.get(word.lower(), word)


ANY_MACHINE = "any"
"""The machine of an input that tells none: a table of symbols that is for all."""

VARIED = ("arm", "loongarch64", "mips", "ppc64", "riscv32", "riscv64", "sh")
"""Machines that have several ABIs, by how floating-point arguments are passed or by byte order."""


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """The platform a binary is for. Binaries of two platforms are never compared.

    ``machine`` is the conventional lower-case name (``x86_64 i386 aarch64 arm riscv64 ppc64le s390x``). The platform
    is what the target is spelled as: ``elf-x86_64-64-little``, ``elf-x86_64-64-little-freebsd``. A file whose header
    says ``gnu`` uses extensions of the GNU tools, on the platform that is otherwise marked ``sysv``.
    """

    format: Literal["elf", "pe", "macho"]
    machine: str
    bits: Literal[32, 64]
    endianness: Literal["little", "big"]
    os_abi: str = msgspec.field(default_factory=lambda: "sysv")  # part of every digest: written always

    def fits(self, other: Target, *, variants: bool = True) -> bool:
        """Whether two snapshots for these may be compared: they are for one platform, or one does not tell its own.

        Without ``variants`` one side does not tell which of its machine's ABIs it is for: see :data:`VARIED`.
        """
        if ANY_MACHINE in (self.machine, other.machine):
            return self.format == other.format
        if not variants and self.family in VARIED:
            return (self.format, self.family, self.bits, self.os_abi) == (
                other.format,
                other.family,
                other.bits,
                other.os_abi,
            )
        return str(self) == str(other)

    @property
    def family(self) -> str:
        """The machine without what tells its ABIs apart: ``arm`` of ``armhf``, ``ppc64`` of ``ppc64le``."""
        return next((each for each in VARIED if self.machine.startswith(each)), self.machine)

    def __str__(self) -> str:
        system = "" if self.os_abi in ORDINARY[self.format] else f"-{self.os_abi}"
        return f"{self.format}-{self.machine}-{self.bits}-{self.endianness}{system}"

    def is_called(self, word: str | None) -> bool:
        """Whether ``word`` stands for this target: all of it, or its machine by any of its names (``arm64``)."""
        return word is not None and (word == str(self) or usual_machine(word) == usual_machine(self.machine))


MOST_INLINE: Final = 32
"""So many inline namespaces are noted: libraries have one or two, and a damaged file may have any number."""


CLASS_NOT_DESCRIBED: Final = "class-not-described"
"""Why the layout of some class is not seen where all exports are described: it is only declared."""

NOT_FOUND_BY_LINKER: Final = "not-found-by-linker"
"""The reason why symbols are seen in part: the symbol table has some that the dynamic linker does not find."""

NO_EXPORT_DECLARED: Final = "no-export-declared"
"""The reason why headers are partial evidence that parse, and declare nothing of what the library exports."""

HEADERS_OF_OTHERS: Final = "headers-of-others"
"""Why headers that were read tell less of a library: some of its package belong to other libraries in it."""

NOT_FOR_THIS_LIBRARY: Final = "devel-package-not-for-this-library"
"""The reason why no headers were read: no development package that was given belongs to the library."""

NO_HEADERS_IN_PACKAGE: Final = "devel-package-without-headers"
"""The reason why no headers were read: the development packages of the library hold none."""

HEADERS_FAILED: Final = "headers-failed"
"""The reason why headers of a development package tell nothing: none of them parses, or reading them fails."""

STANDARD_HEADERS_MISSING: Final = "standard-headers-missing"
"""The reason why given headers tell nothing: those of their system that they include are not on this machine."""

BODIES_UNREAD: Final = "bodies-unread"
"""The reason why headers are read in part of which all is read but the bodies of some functions of C."""


class Evidence(msgspec.Struct, frozen=True):
    """How much one facet could see.

    ``state``: ``full`` (all that is exported is described), ``partial`` (``described`` of ``expected`` exports are),
    ``missing`` (nothing is). ``reason`` is a stable code (``no-debug-info``, ``stale-debug-file``,
    ``split-debug-missing``, ``alternate-file-missing``, ``not-requested``, ...), ``detail`` and ``hint`` are for
    people. A full one may have a reason too, such as :data:`CLASS_NOT_DESCRIBED`. ``source`` tells where it was found:
    ``file``, ``build-id``, ``debuglink``, ``debug-dir``, ``debuginfod``; ``BTF`` or ``CTF`` of a file without DWARF.
    ``unrecorded`` are the facts that inputs of this sort never record: see :mod:`abistore.model.format_gaps`.
    ``inline_namespaces`` are the library's own, qualified, sorted, :data:`MOST_INLINE` at most; unset where there are
    none. ``lacks`` are the files that headers include and that are not found, first those that the most headers miss.
    """

    facet: Facet
    state: Literal["full", "partial", "missing"]
    reason: str = ""
    detail: str = ""
    hint: str = ""
    source: str = ""
    described: int = 0
    expected: int = 0
    unrecorded: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    inline_namespaces: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    lacks: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Hide the passwords of URLs, as in what older versions stored."""
        hide_secrets(self, "detail", "hint")

    @property
    def is_whole(self) -> bool:
        """Whether all exports are described, and all classes too."""
        return self.state == "full" and self.reason != CLASS_NOT_DESCRIBED

    @property
    def declares_all(self) -> bool:
        """Whether no declaration is missing, whatever bodies of functions could not be read."""
        return self.state == "full" or (self.state == "partial" and self.reason == BODIES_UNREAD)


def only_described(variants: Variants) -> AnyShape | None:
    """The one shape of a name besides what text adds to it; ``None`` where there is none or several."""
    shapes = [shape for shape in variants if not isinstance(shape, Declared)]
    return shapes[0] if len(shapes) == 1 else None


def distributed(provenance: Provenance) -> str | None:
    """The name of the package of a distribution (.deb, .rpm) that a library was read from."""
    package = provenance.package
    return package.name or None if isinstance(package, PackageRead) and package.is_distributed else None


def evidence_of(seen: Iterable[Evidence], facet: Facet) -> Evidence:
    """How much ``facet`` saw; a facet that nobody asked for is ``missing``."""
    return next((each for each in seen if each.facet == facet), Evidence(facet, "missing", "not-requested"))


class Location(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a declaration stands: the file as recorded, relative to its compilation folder, and the line."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


FRIENDS: Final = "friends"
"""A class says that it has friends (``befriends``)."""

TYPES_IN_BODIES: Final = "types-in-bodies"
"""Inline bodies say which private and protected types they name."""

USES_OF_TEMPLATES: Final = "uses-of-templates"
"""Templates, default arguments and initialisers of members say what they use of the library's inside."""

CONDITIONS: Final = "conditions"
"""Which conditions of the headers held that ask what others define."""

INCLUDES: Final = "includes"
"""Which of the given headers each of them includes."""

INITIALIZERS: Final = "initializers"
"""Macros that give members their first values are constants: ``{17, 0}``."""

MACROS: Final = "macros"
"""Macros with parameters, and those that stand for no value."""

MODES: Final = "modes"
"""What headers show programs that are built in another mode is read where their conditions ask for it."""

PACKING: Final = "packing"
"""Records say that they are packed where their members lie as if they were not."""

REFUSALS: Final = "refusals"
"""Declarations say that compilers refuse what uses them."""

TEMPLATE_BASES: Final = "template-bases"
"""Class templates say which bases they have."""

INTERNALS_SHOWN: Final = "internals-shown"
"""Templates and friends say what they show of internal namespaces."""

UNTAKEN: Final = "untaken"
"""Which names of the library stand in branches of headers that were not read, and in headers that were not given."""

LAYOUTS_IN_CODE: Final = "layouts-in-code"
"""Code in headers says of which types it has objects, and which members it uses; macros say what they name."""

ABILITIES: Final = "abilities"
"""The compiler was asked what programs can do with each class of C++."""

LATER_FACTS: Final = (
    *(ABILITIES, CONDITIONS, FRIENDS, INCLUDES, INITIALIZERS, INTERNALS_SHOWN, LAYOUTS_IN_CODE, MACROS, MODES),
    *(PACKING, REFUSALS, TEMPLATE_BASES, TYPES_IN_BODIES, UNTAKEN, USES_OF_TEMPLATES),
)
"""What headers were not always asked for: a snapshot of before has no friends, and that tells nothing."""


class AskedCondition(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A condition of public headers that asks for macros which these do not define: ``#if WIDE > 1``.

    ``held`` tells how it was answered in ``files``. ``own`` is a digest of the library's macros that it asks for, too;
    ``outside`` are macros that neither the library nor the system defines: ``WIDE=2``.
    """

    text: str
    held: bool
    files: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    own: str = ""
    outside: tuple[str, ...] = ()

    @property
    def asked(self) -> tuple[str, str]:
        """What is asked; another release may ask the same."""
        return self.text, self.own


class HeaderOutline(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A public header as part of all: which others it ``includes``, itself or by headers that are not public.

    ``linked`` counts the functions and variables that it declares, which debug information places elsewhere.
    """

    file: str
    includes: tuple[str, ...] = ()
    linked: int = 0


class HeaderDigest(msgspec.Struct, frozen=True, array_like=True, order=True):
    """The bytes of a header, by a ``digest``.

    ``behind`` are the headers beside the public ones that it includes by way of none of them; these have texts, too.
    """

    file: str
    digest: str
    behind: tuple[str, ...] = ()


class HeaderFolder(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A folder in which headers were ``given`` one by one; those ``beside`` lie there, too, and were not given."""

    given: tuple[str, ...]
    beside: tuple[str, ...] = ()


class HeadersRead(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which public headers were read, and how. All of it is recorded without the folders of the machine that read them.

    ``files`` are relative to the folders that were given, sorted; ``set_aside`` those of them that did not parse.
    ``given`` are the arguments of ``--header``, without the folders that these lie in: ``a.h``, or ``include/`` for
    all headers in a folder; snapshots of former versions do not tell.
    ``options`` are those that change what a header declares: ``--define NAME=1``, ``--private-header detail/*``.
    ``unasked`` are those of them that change nothing here: macros that no header of the library looks at.
    ``facts`` are :data:`LATER_FACTS` of headers that this reading tells: what it does not name, it never looked for.
    ``conditions`` chose between declarations, sorted.
    ``unread`` are the words of functions whose bodies could not be read (:data:`BODIES_UNREAD`), some with wildcards:
    these may use what is called so.
    ``unmade`` are instances of templates that have no layout, with the reason: what C++ says where they are used whole.
    ``outlines`` are of the headers that include public ones or declare functions or variables, sorted.
    ``texts`` are of public headers and of those beside them, sorted; snapshots of former versions do not tell.
    ``folders`` are those of headers that were given one by one, as far as they were listed, sorted.
    ``modes`` are those in which programs see something else, as far as conditions ask for them, sorted by their names.
    ``serves`` are the languages of programs that headers of C are for; snapshots of former versions do not tell.
    ``compilers`` are the conditions that show other compilers other declarations, sorted.
    ``untaken`` are branches of public headers that were not read, sorted; ``behind`` the names of exports and types in
    headers that these include and that were not given, if no public one declares them. ``aside`` are those in headers
    that did not parse, or in all if some err; ``*word*`` is any name with the word. ``None``: others are possible.
    ``others`` are the ``files`` that belong to other libraries of the package, sorted: nothing of them is told here.
    ``lent`` are the types that stand in development packages of other sources, sorted. ``inside`` are the ``files``
    that refuse to be included but by another one of them, sorted.
    """

    files: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    language: str = ""
    reader: str = ""
    unasked: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    conditions: tuple[AskedCondition, ...] = ()
    unread: tuple[str, ...] = ()
    unmade: tuple[tuple[str, str], ...] = ()
    outlines: tuple[HeaderOutline, ...] = ()
    texts: tuple[HeaderDigest, ...] = ()
    folders: tuple[HeaderFolder, ...] = ()
    untaken: tuple[UntakenBranch, ...] = ()
    modes: tuple[HeadersMode, ...] = ()
    serves: tuple[str, ...] = ()
    compilers: tuple[AskedCompiler, ...] = ()
    behind: tuple[str, ...] = ()
    aside: tuple[str, ...] | None = None
    others: tuple[str, ...] = ()
    lent: tuple[Name, ...] = ()
    inside: tuple[str, ...] = ()


TWIN: Final = "another "
"""Before the name of a library of which a package has a second one for the same platform: that one is not read."""


class PackageRead(msgspec.Struct, frozen=True, omit_defaults=True):
    """The package or folder that a library was found in: ``file`` is its base name, ``member`` the path in it.

    ``name``, ``version``, ``source`` (the source package) and ``architecture`` are what it says of itself, ``suite`` is
    the part of the distribution that it is from. ``depends`` are the packages that are installed with it in any case,
    and ``breaks`` those that it does not work beside: ``foo (<< 2)``. ``optional`` are the exports that its maintainer
    marks so in the symbols file. Snapshots of former versions know none of the last six.
    ``left_out`` are binaries in it that are no libraries, each with a word: ``usr/bin/foo (program)``. ``sha256`` is
    that of the file, or over those of a folder's libraries. ``doubts`` say what may not belong together: headers of a
    development package of another version. ``loaded_as`` are the names of links and copies in it by which programs load
    this library, beside its own file name. ``suppressions`` are files for libabigail in it: none applies by itself.
    """

    file: str
    name: str = ""
    version: str = ""
    member: str = ""
    left_out: tuple[str, ...] = ()
    sha256: str = ""
    libraries: int = 0
    read: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    loaded_as: tuple[str, ...] = ()
    source: str = ""
    architecture: str = ""
    suite: str = ""
    depends: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    suppressions: tuple[str, ...] = ()

    @property
    def is_distributed(self) -> bool:
        """Whether it is a package of a distribution, whose programs find it by what packages depend on."""
        return self.file.endswith((".deb", ".rpm", ".udeb"))

    @property
    def twins(self) -> tuple[str, ...]:
        """The libraries that are left out because another has their name."""
        return tuple(each for each in self.left_out if f"({TWIN}" in each)


def loaded_as(provenance: Provenance) -> tuple[str, ...]:
    """The names of files in its package by which programs load a library, beside its SONAME."""
    package = provenance.package
    return (*package.loaded_as, package.member.rpartition("/")[2]) if isinstance(package, PackageRead) else ()


class Tags(msgspec.Struct, frozen=True, omit_defaults=True, cache_hash=True):
    """How sources of C mention records and enumerations: by a tag behind its keyword, ``struct point``.

    ``bare`` names have no keyword: a typedef gives an unnamed type its only name, or sources of C++ use it. ``unions``
    are names whose keyword is ``union``. Both are sorted.
    """

    bare: tuple[str, ...] = ()
    unions: tuple[str, ...] = ()


class Provenance(msgspec.Struct, frozen=True):
    """What identifies the input and the tools. Never part of a digest; file names are base names.

    ``headers`` is unset where none were read, ``package`` where the library was a file of its own,
    ``product_version`` where the file has no word of its own about it (the version resource of a DLL, the current
    version of a dylib), and ``tags`` where no source is known to be of C.
    """

    file: str = ""
    sha256: str = ""
    size: int = 0
    build_id: str | None = None
    reader: str = ""
    abistore: str = ""
    compilers: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    debug_files: tuple[str, ...] = ()
    headers: HeadersRead | msgspec.UnsetType = msgspec.UNSET
    package: PackageRead | msgspec.UnsetType = msgspec.UNSET
    product_version: str | msgspec.UnsetType = msgspec.UNSET
    tags: Tags | msgspec.UnsetType = msgspec.UNSET


Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""A time that names its zone, so that it can be compared with any other."""


class TagSignature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who signed a tag of a release when: the fingerprint of the key, and the signature in Base64."""

    signed: Moment
    key: Annotated[str, msgspec.Meta(pattern="^SHA256:[A-Za-z0-9+/]{43}$")]
    sig: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9+/]{86}==$")]


class ReleaseTag(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A word that people put on a release, such as ``lts``, and what they say about it.

    ``signature`` is of the tag, the release, its contents and its file.
    """

    name: str
    note: str = ""
    signature: TagSignature | None = None

    def __post_init__(self) -> None:
        """A note may quote a URL."""
        hide_secrets(self, "note")


class ExportedReview(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What somebody said of a finding of the library."""

    identity: str
    state: str
    actor: str
    reviewed: datetime
    note: str = ""


class ExportedApproval(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A break of the library that somebody accepted; ``kind`` is empty where its facts are not known.

    It says what another store accepts: nothing is accepted here until somebody takes it over.
    """

    identity: str
    scope: str
    reason: str
    approver: str
    approved: datetime
    until: str = ""
    ticket: str = ""
    kind: str = ""
    subject: str = ""
    symbol: str = ""
    part: str = ""
    old_value: str | None = None
    new_value: str | None = None
    covers: tuple[str, ...] | None = None
    target: str = ""
    stood_at: str = ""
    profile: str = "default"


class Exported(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a store said about the release that a snapshot was exported from, so that another store can say it too.

    ``profile`` is the build profile, ``revision`` the source revision, ``url`` the CI job, and ``tags`` are
    the words that people put on it. ``reviews`` and ``approvals`` are what holds of findings of the library. Never part
    of a digest.
    """

    profile: str | None = None
    released: datetime | None = None
    revision: str | None = None
    url: str | None = None
    tags: tuple[ReleaseTag, ...] = ()
    reviews: tuple[ExportedReview, ...] = ()
    approvals: tuple[ExportedApproval, ...] = ()

    def __post_init__(self) -> None:
        """A token in the CI job's URL is not kept."""
        hide_secrets(self, "url")


class Snapshot(msgspec.Struct, frozen=True):
    """The ABI of one binary. ``library`` is its lineage name (the SONAME's stem, e.g. ``libz``) unless the caller says.

    ``locations`` are for reports only and never part of a digest. ``exported`` is there where a file carried it.
    """

    library: str
    version: str | None
    target: Target
    entries: Entries
    evidence: tuple[Evidence, ...] = ()
    provenance: Provenance = Provenance()
    locations: Mapping[Name, Location] = {}
    exported: Exported | None = None

    @property
    def label(self) -> str:
        """What messages call the snapshot: the library and its version, or else the file that it was read from."""
        return f"{self.library} {self.version}" if self.version else self.provenance.file or self.library

    @property
    def weight(self) -> int:
        """How much work the snapshot is, in bytes of a file: a KiB for each name in each facet."""
        return sum(map(len, self.entries.values())) << 10

    @property
    def facts(self) -> Library | None:
        """What the binary's tables say about the whole file: SONAME, needed libraries, hardening."""
        return next((shape for shape in self.variants("symbol", SELF) if isinstance(shape, Library)), None)

    @property
    def exports(self) -> int:
        """How many names of functions and variables the binary exports."""
        return sum(name.kind in {"function", "variable"} for name in self.entries.get("symbol", ()))

    def has(self, name: Name) -> bool:
        """Whether any facet has the name."""
        return any(name in held for held in self.entries.values())

    def tells_of(self, facet: Facet) -> bool:
        """Whether it has a facet, or says why it lacks one that was asked for."""
        return facet in self.entries or self.evidence_of(facet).reason not in ("", "not-requested")

    def evidence_of(self, facet: Facet) -> Evidence:
        """How much ``facet`` saw; a facet that nobody asked for is ``missing``."""
        return evidence_of(self.evidence, facet)

    def variants(self, facet: Facet, name: Name) -> Variants:
        """The shapes of ``name`` in ``facet``; empty where it was not seen."""
        return self.entries.get(facet, {}).get(name, ())

    def described(self, name: Name) -> Variants:
        """What ``name`` is made of: as debug information shows it, or as headers do where it does not."""
        layout = self.variants("layout", name)
        if any(not isinstance(shape, Opaque) for shape in layout):
            return layout
        return tuple(each for each in self.variants("source", name) if not isinstance(each, Declared)) or layout


SEPARATOR: Final = "@"
"""Before the version in the name of a declaration, as linkers spell it: ``open@FOO_1``."""


def symbols_of(variants: Variants) -> tuple[Symbol, ...]:
    """The symbols among the shapes of a name: one for each version."""
    return tuple(shape for shape in variants if isinstance(shape, Symbol))


def bound(symbols: Iterable[Symbol]) -> Symbol:
    """The one of a symbol's versions that a new link binds to."""
    return max(symbols, key=lambda symbol: (symbol.default, symbol.version or ""))


def declared_as(name: Name, symbols: Iterable[Symbol], symbol: Symbol) -> Name:
    """What the declaration of one version of ``name`` is called: ``name`` where a new link binds to it."""
    if symbol.version == bound(symbols).version:
        return name
    return Name(name.kind, f"{name.spelling}{SEPARATOR}{symbol.version or ''}")


def exported_as(name: Name, symbols: Mapping[Name, Variants]) -> Name:
    """The export of which ``name`` is the declaration of one version; else ``name`` itself."""
    spelling, separator, version = name.spelling.rpartition(SEPARATOR)
    if not separator or name in symbols:
        return name
    export = Name(name.kind, spelling)
    found = symbols_of(symbols.get(export, ()))
    return export if any((each.version or "") == version for each in found) else name


def given(symbols: Iterable[Symbol], version: str | None, first: str = "") -> Symbol | None:
    """What the dynamic linker gives a program that asks for a ``version`` of a symbol; ``None`` is no version at all.

    A symbol without version stands for every one, unless it is hidden (no ``default``). Who asks for none gets the one
    that has none, that of the ``first`` node of the library, or the default (glibc, ``elf/dl-lookup.c``).
    """
    found = {each.version: each for each in symbols}
    if version in found:
        return found[version]
    if version is not None:
        plain = found.get(None)
        return plain if plain is not None and plain.default else None
    if first in found:
        return found[first]
    return next((each for each in found.values() if each.default), None)


FORMAT = b"abistore-1"
"""Mixed into every digest, of names and of the audit's rows too."""

SIZE = 16
"""Digest length in bytes."""

AT_ONCE: Final = 1 << 10
"""So many names are encoded together: the bytes of large libraries need not be held all at once."""

Rows: TypeAlias = Sequence[tuple[Name, Variants]]

encode = msgspec.json.Encoder(order="deterministic").encode
"""A shape's canonical bytes: UTF-8 JSON objects without white space, tag first, fields with their default left out."""

T = TypeVar("T")


def decoder(kind: type[T], **options: Any) -> Callable[[bytes | str], T]:
    """The decoder of JSON of a type, made when it is first used: that reads the annotations of every type within."""
    made = cache(lambda: msgspec.json.Decoder(kind, **options).decode)
    return lambda data: made()(data)


def digest(data: bytes) -> bytes:
    """The 16-byte BLAKE2b of ``data`` under this format."""
    return begun(data).digest()


def name_digest(kind: str, spelling: str) -> bytes:
    """The digest of a name, by which a store finds it: spellings may be longer than an index allows."""
    return digest(encode((kind, spelling)))


def sort_variants(shapes: Iterable[AnyShape]) -> Variants:
    """Distinct ``shapes`` in the order of their canonical bytes."""
    found = tuple(shapes)
    return found if len(found) < 2 else tuple(sorted(set(found), key=encode))


def snapshot_digest(snapshot: Snapshot, canonical: Callable[[AnyShape], bytes] = encode) -> bytes:
    """The digest of what a snapshot says: its target and every (facet, name, shapes), and no provenance.

    ``canonical`` gives a shape's canonical bytes; a caller that needs these as well can keep them.
    """
    encoded = _encoded if canonical is encode else partial(_joined, canonical)
    state = begun(encode(snapshot.target))
    for facet in FACETS:
        if facet in snapshot.entries:
            state.update(b'["%b",[' % facet.encode())
            rows = sorted(snapshot.entries[facet].items(), key=by_name)
            for start in range(0, len(rows), AT_ONCE):
                state.update(b"," if start else b"")
                state.update(encoded(rows[start : start + AT_ONCE]))
            state.update(b"]]")
    return state.digest()


def _encoded(rows: Rows) -> bytes:
    """Names with their shapes, as a list without its brackets. All in one go is several times as fast as one by one."""
    return encode(rows)[1:-1]


def _joined(canonical: Callable[[AnyShape], bytes], rows: Rows) -> bytes:
    return b",".join([b"[%b,[%b]]" % (encode(name), b",".join(map(canonical, shapes))) for name, shapes in rows])


def begun(data: bytes) -> blake2b:
    """A digest under this format that has seen ``data``, to go on with."""
    state = _state().copy()  # twice as fast as a new one
    state.update(data)
    return state


@cache
def _state() -> blake2b:
    return blake2b(digest_size=SIZE, person=FORMAT)
