"""Facts that an input does not record.

A fact is a field of a shape (``Record.passing``), a class of shapes (``Import``), or one of :data:`PARTICULAR`.
Evidence names the facts that its input never records: ABIXML has no ``noreturn``, a Debian symbols file has no sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from abistore.model.snapshot import Evidence
from abistore.model.words.counting import counted

WORDS: Final[Mapping[str, str]] = {
    "Array.vector": "vector types",
    "Array[Array]": "outer dimensions of arrays",
    "Base.access": "access of base classes",
    "Base.offset": "offsets of base classes",
    "Enum.signed": "signs of enumerators",
    "Enum.scoped": "scoped enumerations",
    "Enum.underlying": "underlying types of enumerations",
    "Field.access": "access of members",
    "Field.bit_size": "widths of bit-fields",
    "Field.mutable": "mutable members",
    "Field.offset": "offsets of members",
    "TypeRef[unsaid]": "what is made of atomic types, pointers to members or nullptr_t",
    "Field[bit_size]": "bit-fields",
    "Foreign": "types of the standard library",
    "Foreign.alignment": "alignments of the standard library's types",
    "Foreign.arguments": "template arguments of the standard library's types",
    "Foreign.size": "sizes of the standard library's types",
    "Function.calling_convention": "calling conventions",
    "Function.noreturn": "noreturn",
    "Function.prototyped": "prototypes",
    "Import": "imports",
    "Import.library": "libraries that imports are bound to",
    "Import.version": "versions of imports",
    "Import.weak": "weak imports",
    "Library.features": "loader requirements",
    "Library.name": "SONAME",
    "Library.needed": "dependencies",
    "Library.needed[order]": "the order of dependencies",
    "Library.protections": "hardening",
    "Library.search_paths": "search paths",
    "Library.weaknesses": "weaknesses of the file",
    "Method.defaulted": "defaulted members",
    "Method.deleted": "deleted members",
    "Method.explicit": "explicit",
    "Method.reference": "ref-qualifiers",
    "Method.slot": "vtable slots of exported methods",
    "Name[mangled]": "mangled names of some exports",
    "Qualified[atomic]": "atomic types",
    "Qualified[void]": "const and volatile of void",
    "Record.alignment": "alignas",
    "Record.arguments": "template arguments of records",
    "Record.deleted": "deleted members of records",
    "Record.passing": "how records are passed by value",
    "Record.has_vptr": "vtable pointers",
    "Record.virtuals": "virtual methods",
    "Shape[variants]": "names with several definitions",
    "Symbol.default": "default symbol versions",
    "Symbol.elf": "IFUNC, unique and protected symbols",
    "Symbol.size": "sizes of data symbols",
    "Symbol.table": "contents of vtables",
    "Symbol.type": "types of symbols",
    "Symbol.weak": "weak symbols",
    "Target.machine": "which ABI of the machine (floating-point arguments, byte order)",
    "Variable.access": "access of static data members",
    "Symbol[unique]": "unique symbols",
    "VirtualMethod.pure": "pure virtual methods",
    "ElfLibrary.rpath": "RPATH",
    "ElfLibrary.version_definitions": "version definitions",
    "ElfLibrary.version_requirements": "version requirements",
}
"""What messages call each fact. Evidence of a newer abistore may name others."""

BIT_FIELDS, UNSAID, DIMENSIONS, SIGNS = (
    "Field[bit_size]",
    "TypeRef[unsaid]",
    "Array[Array]",
    "Enum.signed",
)
ORDER, ATOMIC, VARIANTS = "Library.needed[order]", "Qualified[atomic]", "Shape[variants]"
VOIDS = "Qualified[void]"
VARIANT: Final = "Target.machine"
"""Of the evidence for symbols: the input names the processor, and not which of its ABIs the library is for."""

UNIQUE, DEMANGLED = "Symbol[unique]", "Name[mangled]"
SOME_EXPORTS: Final = "exports "
BY_NAME, BY_DEMANGLED = "exports ~", "exports demangled ~"
"""Before a regular expression (RE2) of ``NAME@VERSION``: it is not known which exports it means are there."""
PARTICULAR: Final = frozenset(
    {BIT_FIELDS, UNSAID, DIMENSIONS, SIGNS, ORDER, ATOMIC, VOIDS, VARIANTS, UNIQUE, DEMANGLED}
)
"""Facts that are a part of a field, or of some fields, arrays or enumerators only."""

OF_COMPILERS: Final = frozenset(
    {
        *("Enum.scoped", "Function.noreturn", "Method.deleted", "Method.explicit", "Method.reference"),
        *("Record.alignment", "Record.deleted"),
    }
)
"""Facts that some compilers leave out of debug information, which is complete otherwise."""


def unrecorded_by(evidence: Evidence) -> frozenset[str]:
    """The facts that the input of a facet does not record."""
    return frozenset(evidence.unrecorded or ())


def spelled(facts: Iterable[str]) -> str:
    """Facts in words: ``imports, noreturn``."""
    found = list(facts)
    words = sorted(WORDS.get(fact, fact) for fact in found if not fact.startswith(SOME_EXPORTS))
    patterns = len(found) - len(words)
    return ", ".join([*words, *([f"exports that {counted(patterns, 'pattern')} mean"] if patterns else [])])


def unlike(old: Iterable[Evidence], new: Iterable[Evidence]) -> bool:
    """Whether one side records facts that the other does not."""
    before, after = ({each.facet: unrecorded_by(each) for each in side} for side in (old, new))
    return any(before.get(facet) != after.get(facet) for facet in before.keys() & after.keys())
