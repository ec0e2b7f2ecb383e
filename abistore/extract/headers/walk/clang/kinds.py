"""The numbers of libclang's kinds of cursors and types that the walk tells apart."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from abistore.model.shapes import Access

Sort: TypeAlias = Literal["struct", "class", "union"]

# cursors
UNEXPOSED_DECL: Final = 1
STRUCT: Final = 2
UNION: Final = 3
CLASS: Final = 4
ENUM: Final = 5
FIELD: Final = 6
ENUMERATOR: Final = 7
FUNCTION: Final = 8
VARIABLE: Final = 9
PARAMETER: Final = 10
TYPEDEF: Final = 20
METHOD: Final = 21
NAMESPACE: Final = 22
LINKAGE: Final = 23
CONSTRUCTOR: Final = 24
DESTRUCTOR: Final = 25
CONVERSION: Final = 26
TYPE_PARAMETER: Final = 27
VALUE_PARAMETER: Final = 28
TEMPLATE_PARAMETER: Final = 29
FUNCTION_TEMPLATE: Final = 30
CLASS_TEMPLATE: Final = 31
PARTIAL_SPECIALIZATION: Final = 32
NAMESPACE_ALIAS: Final = 33
USING_DIRECTIVE: Final = 34
USING: Final = 35
ALIAS: Final = 36
TYPE_REF: Final = 43
BASE: Final = 44
TEMPLATE_REF: Final = 45
NAMESPACE_REF: Final = 46
MEMBER_REF: Final = 47
CALL: Final = 103
COMPOUND: Final = 202
TRY: Final = 224
OVERLOADED: Final = 49
UNIT: Final = 350
FINAL_ATTRIBUTE: Final = 404
ALIGNED_ATTRIBUTE: Final = 441
MACRO: Final = 501
EXPANSION: Final = 502
INCLUSION: Final = 503
PREPROCESSING: Final = frozenset(range(500, 504))
"""Directives, definitions and uses of macros, and includes: what is gone when the compiler proper begins."""
ALIAS_TEMPLATE: Final = 601
FRIEND: Final = 603
CONCEPT: Final = 604

RECORDS: Final[dict[int, Sort]] = {STRUCT: "struct", CLASS: "class", UNION: "union"}
CLASSES: Final = frozenset({*RECORDS, CLASS_TEMPLATE, PARTIAL_SPECIALIZATION})
FUNCTIONS: Final = frozenset({FUNCTION, METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION})
STRUCTORS: Final = frozenset({CONSTRUCTOR, DESTRUCTOR})
TEMPLATE_PARAMETERS: Final = frozenset({TYPE_PARAMETER, VALUE_PARAMETER, TEMPLATE_PARAMETER})

INITIALIZERS: Final = frozenset({MEMBER_REF, TYPE_REF, TEMPLATE_REF})
"""What begins the initialisers of a constructor."""

NOTHING: Final = frozenset({0, *range(70, 74)})
"""Cursors that stand for nothing."""

HIDDEN: Final = frozenset({2, 3})
"""CX_CXXProtected and CX_CXXPrivate."""

# types
INVALID: Final = 0
UNEXPOSED: Final = 1
VOID_TYPE: Final = 2
BOOL_TYPE: Final = 3
NULLPTR: Final = 24
DEPENDENT: Final = 26
POINTER: Final = 101
BLOCK_POINTER: Final = 102
LVALUE_REFERENCE: Final = 103
RVALUE_REFERENCE: Final = 104
REFERENCES: Final = frozenset({LVALUE_REFERENCE, RVALUE_REFERENCE})
RECORD_TYPE: Final = 105
ENUM_TYPE: Final = 106
TYPEDEF_TYPE: Final = 107
FUNCTION_NO_PROTOTYPE: Final = 110
FUNCTION_PROTOTYPE: Final = 111
CONSTANT_ARRAY: Final = 112
VECTOR: Final = 113
INCOMPLETE_ARRAY: Final = 114
VARIABLE_ARRAY: Final = 115
DEPENDENT_ARRAY: Final = 116
MEMBER_POINTER: Final = 117
AUTO: Final = 118
ELABORATED: Final = 119
EXTENDED_VECTOR: Final = 176
ATOMIC: Final = 177

ARRAYS: Final = frozenset({CONSTANT_ARRAY, INCOMPLETE_ARRAY, VARIABLE_ARRAY, DEPENDENT_ARRAY})
PROTOTYPES: Final = frozenset({FUNCTION_NO_PROTOTYPE, FUNCTION_PROTOTYPE})
SCALARS: Final = frozenset({*range(3, 24), 30, 31, ENUM_TYPE, POINTER})
UNSIGNED: Final = frozenset({BOOL_TYPE, *range(4, 13)})
"""``bool`` and the unsigned integers, up to 128 bits."""

ACCESS: Final[dict[int, Access]] = {1: "public", 2: "protected", 3: "private"}

CONVENTIONS: Final = {
    1: None, 2: "stdcall", 3: "fastcall", 4: "thiscall", 5: "pascal", 6: "aapcs", 7: "aapcs_vfp", 8: "regcall",
    9: "intel_ocl_bicc", 10: "ms_abi", 11: "sysv_abi", 12: "vectorcall", 13: "swiftcall", 14: "preserve_most",
    15: "preserve_all", 16: "aarch64_vector_pcs", 17: "swiftasynccall", 18: "aarch64_sve_pcs", 19: "m68k_rtd",
}  # fmt: skip
"""CXCallingConv_* by the name of the attribute that asks for them; ``None`` is the platform's own."""


def is_expression(kind: int) -> bool:
    """Whether a cursor is an expression."""
    return 100 <= kind < 200
