"""What programs compile of a class beside its inline functions: templates among its friends, and initialisers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.written.compiled.bodies import InlineBodies
from abistore.model.declared import Uses


def used_by_class(
    bodies: InlineBodies, members: Sequence[Cursor], initialized: Iterable[tuple[str, str]]
) -> Uses | None:
    """What the templates use that a class defines as its friends, and what members are ``initialized`` with."""
    lib = bodies.lib
    friends = [child for each in members if each.kind == kinds.FRIEND for child in lib.children(each)]
    compiled = [each for each in friends if each.kind == kinds.FUNCTION_TEMPLATE]
    named = {name for name, _ in initialized}
    if named and _is_constructed_here(lib, members):
        compiled += [each for each in members if each.kind == kinds.FIELD and lib.spelling(each) in named]
    return bodies.within(compiled) if compiled else None


def _is_constructed_here(lib: LibClang, members: Iterable[Cursor]) -> bool:
    """Whether programs may compile a constructor of a class: one in its headers, or the compiler's own.

    Those that copy or move take what the other object has.
    """
    constructors = [each for each in members if _constructs(lib, each) and not lib.CXXMethod_isDeleted(each)]
    new = [each for each in constructors if not _copies(lib, each)]
    return not new or any(_is_defined_here(lib, each) for each in new)


def _constructs(lib: LibClang, member: Cursor) -> bool:
    template = member.kind == kinds.FUNCTION_TEMPLATE
    return bool((lib.getTemplateCursorKind(member) if template else member.kind) == kinds.CONSTRUCTOR)


def _copies(lib: LibClang, constructor: Cursor) -> bool:
    return bool(lib.CXXConstructor_isCopyConstructor(constructor) or lib.CXXConstructor_isMoveConstructor(constructor))


def _is_defined_here(lib: LibClang, constructor: Cursor) -> bool:
    if constructor.kind == kinds.FUNCTION_TEMPLATE or lib.CXXMethod_isDefaulted(constructor):
        return True
    found: Cursor = lib.getCursorDefinition(constructor)
    return found.kind not in kinds.NOTHING
