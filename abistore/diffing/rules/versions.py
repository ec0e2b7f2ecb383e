"""Symbol versions: the nodes that the library defines, the versions of its exports, and those that it requires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from abistore.diffing.context import Context, Note, declaration, rule
from abistore.diffing.kinds.equivalent_declarations import exports_called
from abistore.diffing.parts import (
    DefaultVersion,
    ExportCounts,
    NodeMove,
    SymbolVersion,
    VersionCode,
    VersionDefinition,
    VersionRequirement,
)
from abistore.diffing.renamed_exports import RUNTIME_FAMILIES, parsed
from abistore.diffing.side import declared_differently
from abistore.model.declarations import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.hints import is_private_node
from abistore.model.shapes import Library, Symbol
from abistore.model.snapshot import symbols_of

MARKER = "GLIBC_ABI_"
"""Nodes without symbols that linkers require all the same; no program requires any other node without symbols."""


def _defines(library: Library | None) -> bool:
    return library is not None and bool(set(library.on_elf.version_definitions) - {library.name})


def _left(context: Context) -> bool:
    """Whether the new library has version nodes at all: without any, the loader binds by name and only warns."""
    return _defines(context.new.library)


def _living(node: VersionDefinition, context: Context) -> bool:
    return any(context.exported(name) for name in exports_called(node.symbols, context))


@rule(Impact.BREAKING, evidence="symbol", element="library", action="removed")
def symbol_version_defined_removed(node: Removed[VersionDefinition], context: Context) -> Iterator[Note]:
    """A version node was removed, and its symbols moved to another one.

    Every program that was linked against the node requires it by name, and the loader refuses to start the program:
    "version not found". No program requires a node without symbols, except ``GLIBC_ABI_DT_RELR`` and the like.

    Fix: keep the node in the version script; let newer nodes inherit from it.
    """
    if is_private_node(node.old.version):
        return
    if _left(context) and (_living(node.old, context) or node.old.version.startswith(MARKER)):
        affected = exports_called(node.old.symbols, context)
        yield Note("the version node is no longer defined", node.old.version, affected=affected)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="removed")
def symbol_version_node_removed(node: Removed[VersionDefinition], context: Context) -> Iterator[Note]:
    """A version node was removed together with all its symbols.

    Every program that uses one of them requires the node by name, and the loader refuses to start the program.

    Fix: keep the node and its symbols for the life of the SONAME.
    """
    if is_private_node(node.old.version):
        return
    if _left(context) and node.old.symbols and not _living(node.old, context):
        affected = exports_called(node.old.symbols, context)
        yield Note("the version node and its symbols were removed", node.old.version, affected=affected)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="added")
def symbol_version_defined_added(
    version: Added[VersionDefinition | SymbolVersion] | Changed[Library], context: Context
) -> Iterator[Note]:
    """A version node, or another version of an existing export, was added.

    Existing binaries keep the version that they were linked with; those built without versions bind to the default
    ones. Programs linked against new symbols need at least this release.

    Fix: nothing.
    """
    match version.new:
        case VersionDefinition() as node if _defines(context.old.library):
            yield Note("the version node was added", None, node.version)
        case SymbolVersion(version=str() as further):
            yield Note("the symbol got another version", None, further)
        case Library() as library if not _defines(context.old.library) and _defines(library):
            yield Note("the library has version nodes now", None, ", ".join(library.on_elf.version_definitions))


def _has_table(library: Library) -> bool:
    """Whether a file has a table of symbol versions: linkers make one for what it defines or needs."""
    return bool(library.on_elf.version_definitions or library.on_elf.version_requirements)


def _public_nodes(library: Library) -> str:
    return ", ".join(each for each in library.on_elf.version_definitions if not is_private_node(each))


@rule(Impact.RISK, variant="nodes", evidence="symbol", element="library", action="changed")
def version_script_missing_nodes(library: Changed[Library]) -> Iterator[Note]:
    """The library no longer defines any symbol version.

    The loader binds programs to its symbols by name only, and warns at each start: "no version information available".
    If the library needs versions of other libraries, the same applies; else see ``version_script_missing.table``.

    Fix: link with the version script again.
    """
    lost = _defines(library.old) and not _defines(library.new)
    if lost and (_has_table(library.new) or not _public_nodes(library.old)):
        yield Note("no version node is left", ", ".join(library.old.on_elf.version_definitions))


@rule(Impact.BREAKING, variant="table", evidence="symbol", element="library", action="removed")
def version_script_missing_table(library: Changed[Library], context: Context) -> Iterator[Note]:
    """The library no longer has a table of symbol versions, neither its own nor of its dependencies.

    A program that needs a version of one of its symbols is killed when it is bound. glibc treats the missing table as
    an error (``check_match: Assertion ... failed``).

    Fix: link with the version script again.
    """
    lost = _defines(library.old) and not _has_table(library.new)
    if lost and context.old.exports.versioned and (nodes := _public_nodes(library.old)):
        yield Note("no table of symbol versions is left", nodes)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def version_script_missing(surface: Changed[ExportCounts], context: Context) -> Iterator[Note]:
    """All exports of a library with version nodes lost their versions.

    New links record no version, so later releases cannot keep old behaviour for them.

    Fix: name the symbols in the version script, and hide the others with ``local: *;``.
    """
    if surface.old.versioned and not surface.new.versioned and surface.new.exports and _left(context):
        yield Note("exports are no longer versioned", str(surface.old.versioned), "0")


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed", effect="other")
def symbol_moved_version_node(version: Changed[SymbolVersion]) -> Iterator[Note]:
    """An export moved to another version node.

    Existing binaries need the symbol in its old node, e.g. ``open@FOO_1``. It no longer exists there, and the loader
    does not look elsewhere.

    Fix: keep the old version as an alias: ``.symver implementation, name@OLD_NODE``.
    """
    named = version.old.version is not None and version.new.version is not None
    if named and not is_private_node(version.old.version):
        yield Note("the symbol is in another version node", version.old.version, version.new.version)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def unversioned_exported_symbol(version: Changed[SymbolVersion], context: Context) -> Iterator[Note]:
    """An export lost its version, in a library that has version nodes.

    The loader accepts an unversioned symbol for any version that an existing binary needs. New links record no version,
    so later releases cannot keep old behaviour for them.

    Fix: name the symbol in the version script.
    """
    if version.old.version is not None and version.new.version is None and _left(context):
        yield Note("the symbol no longer has a version", version.old.version)


def _none_stands_for(symbols: Iterable[Symbol]) -> bool:
    """Whether programs that ask for a version which is not defined get none of ``symbols``."""
    return all(each.version is not None or not each.default for each in symbols)


@rule(Impact.BREAKING, variant="of_export", evidence="symbol", element="library", action="removed")
def symbol_version_defined_removed_of_export(version: Removed[SymbolVersion], context: Context) -> Iterator[Note]:
    """One of several versions of an export was removed, or unversioned programs no longer find one.

    Programs that were linked when it was the default need exactly this version, which was removed. Programs linked with
    an unversioned release get the default, or the version of the first node; neither exists.

    Fix: keep old versions for the life of the SONAME.
    """
    found = symbols_of(context.new.variants("symbol", version.subject.name))
    if version.old.version is None:
        yield Note("unversioned programs find no version", "no version")
    elif (_left(context) or _none_stands_for(found)) and not is_private_node(version.old.version):
        yield Note("the version of the symbol was removed", version.old.version)


@rule(Impact.RISK, variant="private", evidence="symbol", element="library", action="changed")
def symbol_version_node_removed_private(
    version: Removed[SymbolVersion | VersionDefinition] | Changed[SymbolVersion | NodeMove], context: Context
) -> Iterator[Note]:
    """A version node named private or internal was removed, or lost symbols.

    ``GLIBC_PRIVATE`` or ``Qt_5_PRIVATE_API`` contain symbols for other libraries of the same project. Libraries built
    for the old node do not load with this release. Programs that use only the public interface never need it.

    Fix: release the libraries of the project together.
    """
    old, symbols = _node(version.old)
    new = None
    if isinstance(version, Changed):
        new = version.new.after if isinstance(version.new, NodeMove) else version.new.version
    if is_private_node(old) and _left(context):
        yield Note("the private version node changed", old, new, affected=exports_called(symbols, context))


def _node(version: SymbolVersion | VersionDefinition | NodeMove) -> tuple[str | None, tuple[str, ...]]:
    """The version node, and which exports stand in it where that is told."""
    match version:
        case NodeMove(pairs=pairs, before=before):
            return before, tuple(old for old, _ in pairs)
        case VersionDefinition(version=node, symbols=symbols):
            return node, symbols
        case SymbolVersion(version=node):
            return node, ()


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def symbol_version_code_changed(version: Changed[VersionCode]) -> Iterator[Note]:
    """An old version of a symbol no longer has code or data of its own.

    It was kept for programs that were linked with it. They now get another version's implementation, which behaves
    differently.

    Fix: keep the old implementation: ``.symver implementation, name@OLD_NODE``.
    """
    yield Note("the version has the code of another one", version.old.version, version.new.version)


@rule(Impact.API_BREAK, variant="redeclared", evidence="symbol", element="library", action="changed")
def symbol_version_alias_changed_redeclared(version: Changed[DefaultVersion], context: Context) -> Iterator[Note]:
    """Another version of an export became the default, with another declaration.

    Existing binaries keep the old version, which is still there. Recompiled sources use the new one, with other
    parameters or types, and may need changes.

    Fix: nothing for existing binaries; document the required changes in the release notes.
    """
    name = version.subject.name
    if declared_differently(context.old, context.new, name) and version.new.version is not None:
        was, now = (next(iter(side.snapshot.described(name))) for side in (context.old, context.new))
        yield Note("a new link gets another declaration", declaration(name, was), declaration(name, now))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def symbol_version_alias_changed(version: Changed[DefaultVersion], context: Context) -> Iterator[Note]:
    """Another version of an export became the default.

    Existing binaries keep the old version, which is still there. A relinked program gets the new one, and one process
    may use both.

    Fix: make sure that both versions can work on the same data.
    """
    both = version.old.version is not None and version.new.version is not None
    if both and not declared_differently(context.old, context.new, version.subject.name):
        yield Note("a new link binds to another version", version.old.version, version.new.version)


@rule(Impact.API_BREAK, variant="removed", evidence="symbol", element="library", action="changed")
def symbol_version_alias_changed_removed(version: Changed[DefaultVersion]) -> Iterator[Note]:
    """An export no longer has a default version.

    Existing binaries keep the version that they were linked with. New programs cannot be linked to the export: the
    linker looks for a default version.

    Fix: make one version the default (``.symver implementation, name@@NODE``), unless new programs must not use it.
    """
    if version.old.version is not None and version.new.version is None:
        yield Note("a new link finds no version", version.old.version, None)


@rule(Impact.COMPATIBLE, variant="added", evidence="symbol", element="library", action="changed")
def symbol_version_alias_changed_added(version: Changed[DefaultVersion]) -> Iterator[Note]:
    """A version of an export became the default; before, it had none.

    Existing binaries keep the version that they were linked with. New programs can be linked to the export again.

    Fix: nothing.
    """
    if version.old.version is None and version.new.version is not None:
        yield Note("a new link binds to the version", None, version.new.version)


# --- versions that the library needs ------------------------------------------------------------------------------


def _family(requirement: VersionRequirement) -> str:
    return parsed(requirement.version)[0]


def _spelled(requirement: VersionRequirement) -> str:
    return f"{requirement.version} of {requirement.library}"


@rule(
    Impact.RISK,
    evidence="symbol",
    element="library",
    action="added",
    aliases=("macos_deployment_target_raised", "os_deployment_floor_raised", "platform_baseline_floor_raised"),
)
def runtime_floor_raised(requirement: Added[VersionRequirement] | Changed[Library]) -> Iterator[Note]:
    """The library needs a newer C or C++ runtime, e.g. ``GLIBC_2.34``, or a newer version of macOS or Windows.

    Older systems refuse to load the library, and every program that uses it.

    Fix: build on the oldest supported system.
    """
    if isinstance(requirement.new, Library):
        from abistore.diffing.rules.platforms import raised_system

        if isinstance(requirement, Changed) and (systems := raised_system(requirement)):
            yield Note("a newer system is needed", *systems)
    elif requirement.new.raises_floor and _family(requirement.new) in RUNTIME_FAMILIES:
        yield Note("a newer runtime is needed", None, _spelled(requirement.new))


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def symbol_version_required_added(requirement: Added[VersionRequirement]) -> Iterator[Note]:
    """The library needs a newer version of another library.

    Where only an older one is installed, the loader refuses to load the library, and every program that uses it.

    Fix: raise the dependency's minimum version in the package, or build against the oldest supported version.
    """
    if requirement.new.raises_floor and _family(requirement.new) not in RUNTIME_FAMILIES:
        yield Note("a newer version of a dependency is needed", None, _spelled(requirement.new))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="added")
def symbol_version_required_added_compat(requirement: Added[VersionRequirement]) -> Iterator[Note]:
    """The library needs another symbol version, which older systems have, too.

    Wherever the old release loaded, this version exists too. A new dependency is reported separately.

    Fix: nothing.
    """
    if not requirement.new.raises_floor:
        yield Note("another version of a dependency is needed", None, _spelled(requirement.new))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="removed")
def symbol_version_required_removed(requirement: Removed[VersionRequirement]) -> Iterator[Note]:
    """The library no longer needs a version tag of another library.

    It loads wherever it loaded before.

    Fix: nothing.
    """
    yield Note("a version of a dependency is no longer needed", _spelled(requirement.old))
