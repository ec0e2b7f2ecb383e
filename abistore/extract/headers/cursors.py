"""libclang's cursors, types and functions, without the classes of ``clang.cindex`` around each answer.

A walk asks ten questions about each of many thousand cursors; asked through ``cindex``, each costs four times as much.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_longlong,
    c_size_t,
    c_uint,
    c_ulonglong,
    c_void_p,
)
from functools import cache
from typing import Any, Final, Literal, TypeAlias
from weakref import WeakKeyDictionary

from clang import cindex  # type: ignore[import-untyped]  # the libclang wheel has no type hints, and no stubs

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
POINTER_TYPE: Final = 101
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
SCALARS: Final = frozenset({*range(3, 24), 30, 31, ENUM_TYPE, POINTER_TYPE})
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


class Cursor(Structure):
    """A declaration, expression or attribute. ``d0`` is the node itself: equal for equal declarations."""

    _fields_ = (("kind", c_int), ("xdata", c_int), ("d0", c_void_p), ("d1", c_void_p), ("d2", c_void_p))
    kind: int
    d0: int


class Type(Structure):
    """A type with its qualifiers. ``d0`` is equal for equal types that are written alike."""

    _fields_ = (("kind", c_int), ("d0", c_void_p), ("d1", c_void_p))
    kind: int
    d0: int


MACROS: Final = 1 << 31
"""Places below are in files, one character after the other; those above are in what macros write."""


class SourceLocation(Structure):
    """A place in the text of a translation unit."""

    _fields_ = (("p0", c_void_p), ("p1", c_void_p), ("data", c_uint))
    data: int


class SourceRange(Structure):
    """What stands between two places."""

    _fields_ = (("p0", c_void_p), ("p1", c_void_p), ("begin", c_uint), ("end", c_uint))
    begin: int
    end: int


class RangeList(Structure):
    """Ranges that the preprocessor left out."""

    _fields_ = (("count", c_uint), ("ranges", POINTER(SourceRange)))


class ClangToken(Structure):
    """A token of a text."""

    _fields_ = (("numbers", c_uint * 4), ("data", c_void_p))


class Text(Structure):
    """A string of libclang, to be disposed of where it owns memory."""

    _fields_ = (("data", c_void_p), ("flags", c_uint))
    flags: int


class Texts(Structure):
    """Several strings."""

    _fields_ = (("strings", POINTER(Text)), ("count", c_uint))


class Version(Structure):
    """A version of a platform; -1 for a part that is not told."""

    _fields_ = (("major", c_int), ("minor", c_int), ("subminor", c_int))
    major: int
    minor: int
    subminor: int


class PlatformAvailability(Structure):
    """Since when a declaration is there on one platform."""

    _fields_ = (
        ("platform", Text),
        ("introduced", Version),
        ("deprecated", Version),
        ("obsoleted", Version),
        ("unavailable", c_int),
        ("message", Text),
    )


PLACED: Final = re.compile(r"\((?:unnamed |anonymous )?(\w+) at [^()]*\)")
"""How libclang spells what has no name: ``(unnamed enum at /include/a.h:3:1)``, ``(lambda at ...)``."""

VISITOR: Final = CFUNCTYPE(c_int, Cursor, Cursor, c_void_p)
FIELD_VISITOR: Final = CFUNCTYPE(c_int, Cursor, c_void_p)
CONTINUE: Final = 1

SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    **dict.fromkeys(
        [
            *("CXXField_isMutable", "CXXMethod_isConst", "CXXMethod_isDefaulted", "CXXMethod_isDeleted"),
            *("CXXMethod_isExplicit", "CXXMethod_isPureVirtual", "CXXMethod_isStatic", "CXXMethod_isVirtual"),
            *("CXXConstructor_isCopyConstructor", "CXXConstructor_isMoveConstructor", "CXXRecord_isAbstract"),
            *("Cursor_isAnonymous", "Cursor_isAnonymousRecordDecl", "Cursor_isBitField", "Cursor_isFunctionInlined"),
            *("Cursor_isInlineNamespace", "Cursor_isMacroBuiltin", "Cursor_isMacroFunctionLike", "Cursor_hasAttrs"),
            *("EnumDecl_isScoped", "getCXXAccessSpecifier", "getCursorAvailability", "getCursorLinkage"),
            *("getCursorVisibility", "getCursorExceptionSpecificationType", "getFieldDeclBitWidth", "isVirtualBase"),
            *("getTemplateCursorKind", "isCursorDefinition", "isInvalidDeclaration", "Cursor_isVariadic"),
            *("Cursor_getNumTemplateArguments", "Cursor_getStorageClass", "getCursorTLSKind", "Cursor_getNumArguments"),
            *("getCursorBinaryOperatorKind", "getCursorUnaryOperatorKind"),
        ],
        (c_int, Cursor),
    ),
    **dict.fromkeys(["Cursor_getTemplateArgumentKind"], (c_int, Cursor, c_uint)),
    **dict.fromkeys(["Cursor_getTemplateArgumentValue"], (c_longlong, Cursor, c_uint)),
    **dict.fromkeys(["Cursor_getTemplateArgumentUnsignedValue"], (c_ulonglong, Cursor, c_uint)),
    **dict.fromkeys(["Cursor_getOffsetOfField", "getEnumConstantDeclValue"], (c_longlong, Cursor)),
    **dict.fromkeys(["getEnumConstantDeclUnsignedValue"], (c_ulonglong, Cursor)),
    **dict.fromkeys(
        [
            *("Cursor_getMangling", "getCursorDisplayName", "getCursorSpelling"),
            *("getCursorUSR",),
        ],
        (Text, Cursor),
    ),
    **dict.fromkeys(
        [
            *("getCanonicalCursor", "getCursorDefinition", "getCursorReferenced", "getCursorSemanticParent"),
            *("getCursorLexicalParent", "getSpecializedCursorTemplate", "Cursor_getVarDeclInitializer"),
        ],
        (Cursor, Cursor),
    ),
    **dict.fromkeys(
        ["getCursorResultType", "getCursorType", "getEnumDeclIntegerType", "getTypedefDeclUnderlyingType"],
        (Type, Cursor),
    ),
    **dict.fromkeys(
        [
            *("Type_getCXXRefQualifier", "Type_getNumTemplateArguments", "getExceptionSpecificationType"),
            *("getFunctionTypeCallingConv", "getNumArgTypes", "isConstQualifiedType", "isFunctionTypeVariadic"),
            *("isPODType", "isRestrictQualifiedType", "isVolatileQualifiedType"),
        ],
        (c_int, Type),
    ),
    **dict.fromkeys(
        ["Type_getAlignOf", "Type_getSizeOf", "getArraySize", "getNumElements"],
        (c_longlong, Type),
    ),
    **dict.fromkeys(
        [
            *("Type_getClassType", "Type_getNamedType", "Type_getValueType", "getArrayElementType"),
            *("getCanonicalType", "getElementType", "getPointeeType", "getResultType", "getUnqualifiedType"),
        ],
        (Type, Type),
    ),
    **dict.fromkeys(["Type_getTemplateArgumentAsType", "getArgType"], (Type, Type, c_uint)),
    **dict.fromkeys(["getTypeSpelling"], (Text, Type)),
    **dict.fromkeys(["getTypeDeclaration"], (Cursor, Type)),
    "Cursor_getArgument": (Cursor, Cursor, c_uint),
    "Cursor_getCXXManglings": (POINTER(Texts), Cursor),
    "Cursor_Evaluate": (c_void_p, Cursor),
    "EvalResult_dispose": (None, c_void_p),
    "EvalResult_getAsDouble": (c_double, c_void_p),
    "EvalResult_getAsLongLong": (c_longlong, c_void_p),
    "EvalResult_getAsStr": (c_char_p, c_void_p),
    "EvalResult_getAsUnsigned": (c_ulonglong, c_void_p),
    "EvalResult_getKind": (c_int, c_void_p),
    "EvalResult_isUnsignedInt": (c_int, c_void_p),
    "Type_visitFields": (c_int, Type, FIELD_VISITOR, c_void_p),
    "disposeOverriddenCursors": (None, POINTER(Cursor)),
    "disposeCXPlatformAvailability": (None, POINTER(PlatformAvailability)),
    "disposeSourceRangeList": (None, POINTER(RangeList)),
    "disposeString": (None, Text),
    "disposeStringSet": (None, POINTER(Texts)),
    "disposeTokens": (None, c_void_p, POINTER(ClangToken), c_uint),
    "getAllSkippedRanges": (POINTER(RangeList), c_void_p),
    "Location_isInSystemHeader": (c_int, SourceLocation),
    "getNumOverloadedDecls": (c_uint, Cursor),
    "getOverloadedDecl": (Cursor, Cursor, c_uint),
    "getCString": (c_char_p, Text),
    "getCursorExtent": (SourceRange, Cursor),
    "getCursorLocation": (SourceLocation, Cursor),
    "getCursorPlatformAvailability": (
        *(c_int, Cursor, POINTER(c_int), POINTER(Text), POINTER(c_int), POINTER(Text)),
        *(POINTER(PlatformAvailability), c_int),
    ),
    "getIncludedFile": (c_void_p, Cursor),
    "getLocationForOffset": (SourceLocation, c_void_p, c_void_p, c_uint),
    "getFileContents": (c_void_p, c_void_p, c_void_p, POINTER(c_size_t)),
    "getFileLocation": (*(None, SourceLocation, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)),),
    "getCursorPrettyPrinted": (Text, Cursor, c_void_p),
    "getCursorPrintingPolicy": (c_void_p, Cursor),
    "PrintingPolicy_dispose": (None, c_void_p),
    "PrintingPolicy_setProperty": (None, c_void_p, c_int, c_uint),
    "getExpansionLocation": (
        *(None, SourceLocation, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)),
    ),
    "getFileName": (Text, c_void_p),
    "getOverriddenCursors": (None, Cursor, POINTER(POINTER(Cursor)), POINTER(c_uint)),
    "getRangeEnd": (SourceLocation, SourceRange),
    "getRangeStart": (SourceLocation, SourceRange),
    "TargetInfo_dispose": (None, c_void_p),
    "TargetInfo_getPointerWidth": (c_int, c_void_p),
    "getTokenSpelling": (Text, c_void_p, ClangToken),
    "getTranslationUnitCursor": (Cursor, c_void_p),
    "getTranslationUnitTargetInfo": (c_void_p, c_void_p),
    "tokenize": (None, c_void_p, SourceRange, POINTER(POINTER(ClangToken)), POINTER(c_uint)),
    "visitChildren": (c_uint, Cursor, VISITOR, c_void_p),
}
"""Each function without its prefix: what it gives, and what it takes."""


class LibClang:
    """libclang's functions as attributes, each with its prefix left out: ``lib.getCursorType(cursor)``."""

    def __init__(self) -> None:
        library = CDLL(cindex.conf.get_filename())
        for name, (result, *parameters) in SIGNATURES.items():
            function = getattr(library, f"clang_{name}")
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)
        self.underscored = False
        self._tops = WeakKeyDictionary[Any, list[Cursor]]()
        self._place = c_void_p(), c_uint(), c_uint(), c_uint()
        self._places = tuple(map(byref, self._place))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Only for the type checker: every function is set when the library is loaded."""
        raise AttributeError(name)

    def size(self, type: Type) -> int | None:
        """The size of a type in bytes; ``None`` where it has none: incomplete, of variable length, or in a template."""
        return _told(self.Type_getSizeOf(type))

    def alignment(self, type: Type) -> int | None:
        """The alignment of a type in bytes; ``None`` where it has none."""
        return _told(self.Type_getAlignOf(type))

    def offset(self, field: Cursor) -> int | None:
        """Where a field begins in its class, in bits; ``None`` where the class has no layout."""
        return _told(self.Cursor_getOffsetOfField(field))

    def width(self, field: Cursor) -> int | None:
        """How many bits a bit-field has; ``None`` for other fields, and where only instances of a template tell."""
        return _told(self.getFieldDeclBitWidth(field)) if self.Cursor_isBitField(field) else None

    def bound(self, array: Type) -> int | None:
        """How many elements an array has; ``None`` where it has no bound, or only instances of a template tell."""
        return _told(self.getArraySize(array))

    def elements(self, vector: Type) -> int | None:
        """How many elements a SIMD vector has; ``None`` where only instances of a template tell."""
        return _told(self.getNumElements(vector))

    def text(self, found: Text) -> str:
        """The characters of a string, which is disposed of."""
        characters: bytes | None = self.getCString(found)
        spelled = "" if characters is None else characters.decode(errors="replace")
        if found.flags:
            self.disposeString(found)
        return spelled

    def type_name(self, type: Type) -> str:
        """How a type is spelled; one without a name without the file and line at which libclang would place it."""
        spelled = self.text(self.getTypeSpelling(type))
        return PLACED.sub(r"(anonymous \1)", spelled) if " at " in spelled else spelled

    def children(self, cursor: Cursor) -> list[Cursor]:
        """What stands directly in a declaration, in source order."""
        found: list[Cursor] = []
        keep = found.append
        self.visitChildren(cursor, VISITOR(lambda child, _parent, _data: keep(child) or CONTINUE), None)
        return found

    def top(self, unit: Any) -> list[Cursor]:
        """What stands directly in a translation unit of ``clang.cindex``, in source order; it is listed once."""
        if unit not in self._tops:
            self._tops[unit] = self.children(self.getTranslationUnitCursor(unit.obj))
        return self._tops[unit]

    def fields(self, type: Type) -> list[Cursor]:
        """The non-static data members of a class, those of template instances included."""
        found: list[Cursor] = []
        keep = found.append
        self.Type_visitFields(type, FIELD_VISITOR(lambda field, _data: keep(field) or CONTINUE), None)
        return found

    def spelling(self, cursor: Cursor) -> str:
        """The unqualified name of a declaration."""
        return self.text(self.getCursorSpelling(cursor))

    def place(self, location: SourceLocation) -> tuple[int | None, int, int]:
        """The file, line and offset of a place; where a macro is used, for what the macro writes."""
        self.getFileLocation(location, *self._places)
        file, line, _, offset = self._place
        return file.value, line.value, offset.value

    def linked(self, cursor: Cursor) -> str:
        """The name by which a binary has a function or variable; without the underscore that Apple puts before all."""
        name = self.text(self.Cursor_getMangling(cursor))
        return name.removeprefix("_") if self.underscored else name

    def mangled(self, cursor: Cursor) -> list[str]:
        """The names of all variants of a constructor or destructor."""
        found = self.Cursor_getCXXManglings(cursor)
        if not found:
            return []
        try:
            texts = found.contents
            names = [self.getCString(texts.strings[index]).decode() for index in range(texts.count)]
            return [each.removeprefix("_") for each in names] if self.underscored else names
        finally:
            self.disposeStringSet(found)

    def pointer_size(self, unit: c_void_p) -> int:
        """The size of a pointer in bytes for the target of a translation unit."""
        target = self.getTranslationUnitTargetInfo(unit)
        try:
            return int(self.TargetInfo_getPointerWidth(target)) // 8
        finally:
            self.TargetInfo_dispose(target)

    def overridden(self, cursor: Cursor) -> list[Cursor]:
        """The methods that a method overrides directly."""
        found, count = POINTER(Cursor)(), c_uint()
        self.getOverriddenCursors(cursor, byref(found), byref(count))
        if not count.value:
            return []
        kept = [Cursor.from_buffer_copy(found[index]) for index in range(count.value)]
        self.disposeOverriddenCursors(found)
        return kept


def _told(number: int) -> int | None:
    """What libclang answers to a question for a number; its errors (``CXTypeLayoutError``) are below zero."""
    return number if number >= 0 else None


@cache
def libclang() -> LibClang:
    """The loaded library."""
    return LibClang()
