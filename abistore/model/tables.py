"""What the tables of a binary say: exported and undefined symbols, and the library as a whole."""

from __future__ import annotations

from typing import Literal

from abistore.model.canonical.encoded import Encoded, Shape


class ElfSymbol(Encoded, frozen=True):
    """What only ELF tells of an export; an export of which all this is false or unknown has none.

    ``chosen_at_load`` is an IFUNC; ``common`` a tentative definition; ``unique`` is one in the whole process
    (``STB_GNU_UNIQUE``); ``protected`` is not replaced for the library itself (``STV_PROTECTED``). ``read_only`` tells
    whether writing to an object kills the process; ``None`` where it is not known, and for what is no object.
    ``unused`` is a weak member of a template's instance that no relocation mentions, as they do its own functions.
    ``empty`` is an object without a size, of which a program copies nothing; ``absolute`` code or data whose address is
    the same wherever the library is loaded (``SHN_ABS``).
    ``own_place`` is of versions that new links do not get: whether they have another address than the one that does.
    """

    chosen_at_load: bool = False
    common: bool = False
    unique: bool = False
    protected: bool = False
    read_only: bool | None = None
    unused: bool = False
    own_place: bool | None = None
    empty: bool = False
    absolute: bool = False


class MachoSymbol(Encoded, frozen=True):
    """What only Mach-O tells of an export: its ``size`` reaches to the next symbol, and ``padding`` may lie between."""

    padding: int = 0
    read_only: bool | None = None


class PeSymbol(Encoded, frozen=True):
    """What only PE tells of an export: as Mach-O does, but of sizes those of vtables alone.

    ``behind`` are the symbols at the address of an export that has no name or another one, sorted; none where the file
    has no symbol table.
    """

    padding: int = 0
    read_only: bool | None = None
    behind: tuple[str, ...] = ()


class Symbol(Shape, frozen=True, tag="S"):
    """One exported symbol, or one version of it; an entry holds one shape per symbol version.

    ``type`` is ``unknown`` for what assembler code exports without one. ``size`` is the object's size in bytes, and 0
    for code: a function's length is not ABI. ``version`` is the symbol version it is bound to (``None``: unversioned);
    ``default`` tells ``name@@VER`` from ``name@VER``. ``ordinal`` is the number by which consumers may ask instead of
    the name. ``forwarded_to`` is the symbol of another library that stands behind it: ``OTHER.name`` of a DLL,
    ``OTHER:name`` of a dylib. ``table`` are the words of a vtable or of type information, each as the symbol that it
    points to: empty where it points to none or none is known; no words where they were not read.
    """

    type: Literal["function", "data", "thread_local", "unknown"]
    weak: bool = False
    size: int = 0
    version: str | None = None
    default: bool = True
    ordinal: int | None = None
    forwarded_to: str | None = None
    elf: ElfSymbol | None = None
    table: tuple[str, ...] = ()
    macho: MachoSymbol | None = None
    pe: PeSymbol | None = None


class Import(Shape, frozen=True, tag="I"):
    """One undefined symbol: the version it must have (``None``: any) and the library that is to provide it."""

    weak: bool = False
    version: str | None = None
    library: str | None = None


class ElfLibrary(Encoded, frozen=True):
    """What only ELF tells of a file; a file that says none of it has none.

    ``rpath`` is ``DT_RPATH``. ``version_requirements`` pairs a needed library with a version of it, e.g.
    ``("libc.so.6", "GLIBC_2.34")``. ``first_version`` is the node that programs get which ask for no version, told
    where some version of an export is not the default. ``refusals`` are fields for which a dynamic linker does not load
    the file: ``e_version 9``.
    """

    rpath: tuple[str, ...] = ()
    version_definitions: tuple[str, ...] = ()
    version_requirements: tuple[tuple[str, str], ...] = ()
    first_version: str = ""
    refusals: tuple[str, ...] = ()


class MachoLibrary(Encoded, frozen=True):
    """What only Mach-O tells of a file. All but the words are names of libraries, as load commands spell them; sorted.

    ``minimum_os`` is the oldest release of the system that loads the file. ``reexports`` are libraries whose exports
    count as the file's own. ``linkage`` pairs a needed library with ``weak``, ``upward`` or ``lazy``;
    ``requirements`` with the compatibility version that it must have at least. ``clients`` are the only ones that may
    link to the file, where it names any. A text ``stub`` tells nothing of dependencies and protections.
    ``directives`` speak to linkers about programs for single systems (``$ld$hide$os10.15$_open``); ``None`` where they
    were not read.
    """

    file_type: Literal["dylib", "bundle", "executable"] = "dylib"
    minimum_os: str | None = None
    reexports: tuple[str, ...] = ()
    linkage: tuple[tuple[str, str], ...] = ()
    requirements: tuple[tuple[str, str], ...] = ()
    clients: tuple[str, ...] = ()
    stub: bool = False
    directives: tuple[str, ...] | None = None


class PeLibrary(Encoded, frozen=True):
    """What only PE tells of a file.

    ``minimum_system`` is the oldest version of Windows that loads it (``6.1`` is Windows 7). ``delay_loaded`` are those
    needed libraries that are loaded when one of their functions is called first, sorted.
    """

    subsystem: str = ""
    minimum_system: str = ""
    delay_loaded: tuple[str, ...] = ()


class Library(Shape, frozen=True, tag="L"):
    """The facts of the whole file. Tuples are sorted, except ``needed`` (load order) and the search paths.

    ``name`` is what consumers record to ask for the library: SONAME, install name, or name of the DLL.
    ``search_paths`` are where it has its own dependencies looked for (``DT_RUNPATH``, ``LC_RPATH``).
    ``compatibility_version`` is the lowest that consumers of this file ask for.
    ``protections`` (``full RELRO``) and ``weaknesses`` (``executable stack``) are of a process that loads it.
    ``features`` are further loader requirements, e.g. ``DT_RELR``, ``STATIC_TLS``, ``DF_1_NODELETE``.
    """

    file_kind: Literal["shared", "executable", "relocatable", "archive"]
    name: str | None = None
    needed: tuple[str, ...] = ()
    search_paths: tuple[str, ...] = ()
    compatibility_version: str | None = None
    protections: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    elf: ElfLibrary | None = None
    macho: MachoLibrary | None = None
    pe: PeLibrary | None = None

    @property
    def on_elf(self) -> ElfLibrary:
        """What only ELF tells of the file: nothing, of other files."""
        return self.elf or ElfLibrary()

    @property
    def on_macho(self) -> MachoLibrary:
        """What only Mach-O tells of the file: nothing, of other files."""
        return self.macho or MachoLibrary()

    @property
    def on_pe(self) -> PeLibrary:
        """What only PE tells of the file: nothing, of other files."""
        return self.pe or PeLibrary()
