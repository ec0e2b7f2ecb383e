"""Names of kinds of change: the variants of a kind, and former names."""

from __future__ import annotations

from collections.abc import Mapping

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
"""What a kind was called, and what it was called next. Rows are added, never taken away: policies, suppressions and
stored findings hold these names."""


def kind_of(name: str) -> str:
    """The kind of a full name: ``func_removed`` of ``func_removed.dispatched``."""
    return name.partition(".")[0]


def variant_of(name: str) -> str:
    """The variant of a full name: ``dispatched`` of ``func_removed.dispatched``, empty of ``func_removed``."""
    return name.partition(".")[2]


def _last(name: str, next_of: Mapping[str, str]) -> str:
    while name in next_of:
        name = next_of[name]
    return name


_PREVIOUS = {now: before for before, now in FORMER_NAMES.items()}
_NAMES_NOW = {before: _last(before, FORMER_NAMES) for before in FORMER_NAMES}
_FIRST_NAMES = {now: _last(now, _PREVIOUS) for now in _PREVIOUS}


def name_now(kind: str) -> str:
    """The present name of a kind that may have a former name."""
    return _NAMES_NOW.get(kind, kind)


def first_name(kind: str) -> str:
    """The first name of a kind. It outlasts renaming: identities of findings have it."""
    return _FIRST_NAMES.get(kind, kind)


def former_names(kind: str) -> tuple[str, ...]:
    """The names that ``kind`` had before, the first one first."""
    before = _PREVIOUS.get(kind)
    return () if before is None else (*former_names(before), before)


def is_meant(word: str, kind: str) -> bool:
    """Whether a filter by ``word`` shows findings of ``kind``: its name, a former one, or ``KIND.*`` of any variant."""
    return name_now(word) == kind or word == f"{kind_of(kind)}.*"
