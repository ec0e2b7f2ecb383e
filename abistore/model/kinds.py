"""The names of kinds of change: how abistore's own are made, and what they were called before.

A kind that the field has a name for keeps that name (``func_removed``). Every other kind is called by the table here:
a prefix that tells the subject, words for the part of it that is meant, and a verb. ``enum_member_reserved_removed`` is
the prefix ``enum_member``, the part ``reserved`` and the verb ``removed``.
"""

from __future__ import annotations

from typing import NamedTuple

VERBS = {
    "added": "is there now, and was not",
    "removed": "was there, and is not any more",
    "changed": "differs, and no other verb says how",
    "renamed": "is the same under another name",
    "moved": "is the same in another place",
    "reordered": "are the same in another order",
    "widened": "allows more than before",
    "narrowed": "allows or shows less than before",
    "respelled": "is spelled differently, with the same bits",
    "reinterpreted": "has the same bits with another meaning",
}

SUBJECTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "base": ("a base class of a class", ("access", "empty")),
    "ctor": ("a constructor", ("abstract",)),
    "declaration": ("anything that is declared: a function, variable or type", ("", "internal", "private", "variant")),
    "deprecation": ("a mark that something is deprecated", ("",)),
    "enum": ("an enumeration", ("scope", "underlying_type")),
    "enum_member": ("an enumerator", ("alias", "experimental", "inner", "reserved", "sentinel")),
    "evidence": ("what a build shows of its ABI", ("",)),
    "field": ("a data member of a class", ("access", "grouping", "private", "reserved", "trailing", "type", "use")),
    "file": ("the library's file", ("kind",)),
    "func": ("a function", ("noreturn", "prototype", "scope")),
    "method": ("a member function", ("access",)),
    "needed": ("a library that this one depends on", ("library", "version")),
    "param": ("a parameter", ("default_value", "pointee_qualifier", "type")),
    "return": ("what a function returns", ("type", "value")),
    "soname": ("the SONAME", ("",)),
    "special_member": ("a constructor, destructor or assignment that compilers can write", ("", "deletion")),
    "symbol": ("one exported symbol", ("default_version", "undeclared", "version", "versioning")),
    "symbols": ("many exported symbols together", ("foreign", "inline", "internal", "private", "version")),
    "template": ("a template", ("instantiation",)),
    "type": (
        "a type: a class, union, enumeration or alias",
        (
            *("definition", "foreign_layout", "foreign_pointee", "handle_definition", "handle_size", "opaque_keyword"),
            *("passing", "private", "symbols", "use"),
        ),
    ),
    "typedef": ("an alias of a type", ("", "base", "unused")),
    "union": ("a union", ("field", "storage")),
    "var": ("a variable", ("scope", "type")),
    "virtual_method": (
        "a virtual member function",
        ("", "access", "closed", "inner", "override", "pure", "reserved", "signature", "slot", "trailing"),
    ),
    "vptr": ("the pointer to the vtable in an object", ("",)),
    "vtable": ("the vtable of a class", ("thunk",)),
}
"""What each prefix stands for, and the parts of it that kinds are about; an empty part is the subject itself."""

FORMER_NAMES = {
    "abstract_constructor_removed": "ctor_abstract_removed",
    "base_access_changed": "base_access_narrowed",
    "base_class_inserted": "base_empty_added",
    "class_symbols_added": "type_symbols_added",
    "class_symbols_removed": "type_symbols_removed",
    "declaration_changed_otherwise": "declaration_changed",
    "empty_base_removed": "base_empty_removed",
    "empty_bases_reordered": "base_empty_reordered",
    "enum_experimental_removed": "enum_member_experimental_removed",
    "enum_lost_scope": "enum_scope_removed",
    "enum_member_inserted": "enum_member_inner_added",
    "enum_reserved_removed": "enum_member_reserved_removed",
    "enum_sentinel_removed": "enum_member_sentinel_removed",
    "enum_underlying_type_changed": "enum_underlying_type_reinterpreted",
    "evidence_weakened": "evidence_narrowed",
    "field_retired": "field_use_removed",
    "fields_regrouped": "field_grouping_changed",
    "foreign_symbols_added": "symbols_foreign_added",
    "foreign_symbols_removed": "symbols_foreign_removed",
    "foreign_type_layout_changed": "type_foreign_layout_changed",
    "foreign_type_layout_drifted": "type_foreign_pointee_changed",
    "func_return_added": "return_value_added",
    "func_virtual_lost_pure": "virtual_method_pure_removed",
    "handle_became_opaque": "type_handle_definition_removed",
    "inline_symbols_added": "symbols_inline_added",
    "inline_symbols_removed": "symbols_inline_removed",
    "internal_declaration_changed": "declaration_internal_changed",
    "internal_symbols_removed": "symbols_internal_removed",
    "library_allocated_type_resized": "type_handle_size_changed",
    "needed_added_outside_closure": "needed_library_added",
    "opaque_kind_changed": "type_opaque_keyword_changed",
    "opaque_storage_changed": "union_storage_changed",
    "private_field_removed": "field_private_removed",
    "private_field_renamed": "field_private_renamed",
    "private_type_changed": "type_private_changed",
    "reserved_field_removed": "field_reserved_removed",
    "soname_introduced": "soname_added",
    "special_member_deleted": "special_member_deletion_added",
    "special_member_restored": "special_member_deletion_removed",
    "symbol_default_version_dropped": "symbol_default_version_removed",
    "symbol_default_version_gained": "symbol_default_version_added",
    "symbol_versioning_dropped": "symbol_versioning_removed",
    "symbol_versioning_introduced": "symbol_versioning_added",
    "type_became_complete": "type_definition_added",
    "type_field_appended": "field_trailing_added",
    "type_no_longer_used": "type_use_removed",
    "type_redefined": "type_definition_changed",
    "type_redefined_alike": "type_definition_respelled",
    "typedef_redefined": "typedef_unused_changed",
    "undeclared_declaration_changed": "declaration_private_changed",
    "undeclared_export_removed": "symbol_undeclared_removed",
    "undeclared_symbols_removed": "symbols_private_removed",
    "union_fields_reordered": "union_field_reordered",
    "used_reserved_enumerator": "enum_member_reserved_renamed",
    "used_reserved_virtual": "virtual_method_reserved_renamed",
    "value_abi_trait_drifted": "type_passing_changed",
    "versioned_symbol_scheme_changed": "symbols_version_moved",
    "virtual_access_changed": "virtual_method_access_narrowed",
    "virtual_access_widened": "virtual_method_access_widened",
    "virtual_method_appended": "virtual_method_trailing_added",
    "virtual_method_appended_closed": "virtual_method_closed_added",
    "virtual_method_inserted": "virtual_method_inner_added",
    "virtual_method_replaced": "virtual_method_slot_changed",
    "virtual_override_added": "virtual_method_override_added",
    "virtual_override_removed": "virtual_method_override_removed",
}
"""What kinds were called by earlier releases, and what they are called now. Rows are added, never taken away: policies,
suppressions and stored findings hold these names."""

_FIRST_NAMES = {now: before for before, now in FORMER_NAMES.items()}


class KindName(NamedTuple):
    """The parts of a kind's name; ``part`` is empty where the subject itself is meant."""

    prefix: str
    part: str
    verb: str


def parse(kind: str) -> KindName | None:
    """What the name of an own kind says; ``None`` where the table does not make it."""
    subject, _, verb = kind.rpartition("_")
    for prefix in sorted(SUBJECTS, key=len, reverse=True):
        rest = f"{subject}_".removeprefix(f"{prefix}_")
        part = rest.removesuffix("_")
        if rest != f"{subject}_" and part in SUBJECTS[prefix][1] and verb in VERBS:
            return KindName(prefix, part, verb)
    return None


def name_now(kind: str) -> str:
    """What a kind is called now, which an earlier release may have called otherwise."""
    return FORMER_NAMES.get(kind, kind)


def first_name(kind: str) -> str:
    """What a kind was called first: the name that outlasts its renaming, e.g. in identities of findings."""
    return _FIRST_NAMES.get(kind, kind)


def former_names(kind: str) -> tuple[str, ...]:
    """What ``kind`` was called by earlier releases."""
    before = _FIRST_NAMES.get(kind)
    return () if before is None else (before,)
