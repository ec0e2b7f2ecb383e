"""Names of declarations, facts that only headers show of them, and differences between two snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, Union

import msgspec

try:
    from _blake2 import blake2b as blake2b
except ImportError:  # an interpreter that keeps it elsewhere
    from hashlib import blake2b as blake2b

TAG: Final = "is"
SHORT: Final = {
    **{"name": "n", "spelling": "s", "size": "z", "target": "to", "sort": "k", "element": "of", "count": "c"},
    **{"qualifiers": "q", "result": "r", "parameters": "p", "owner": "in", "shape": "sh", "display": "d", "type": "t"},
    **{"method": "m", "access": "a", "fields": "f", "offset": "o", "bit_size": "w", "bases": "b", "virtuals": "v"},
    **{"symbol": "y", "slot": "i", "arguments": "g", "alignment": "al", "enumerators": "e", "value": "x"},
}
"""How frequent fields are called in canonical JSON; others have their own names. None may ever change."""


class Encoded(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename=SHORT.get, gc=False):
    """What shapes consist of. Canonical JSON has one object each, without the fields that have their default.

    So a further field with a default changes no digest of what does not use it. Where a default is met is asked by
    identity: it is ``None``, a truth value, a small number, an empty text or tuple, or a word of a ``Literal``.
    """


class Shape(Encoded, frozen=True, tag_field=TAG):
    """What all shapes share: immutable, hashable, told apart by their tags."""


Kind: TypeAlias = Literal["alias", "enum", "function", "import", "library", "record", "variable"]
"""What a name names. ``import`` is an undefined symbol that the library expects from elsewhere."""

Facet: TypeAlias = Literal["symbol", "layout", "source"]
"""Which evidence saw a shape: the binary's tables, its debug information, or the public headers."""

FACETS: tuple[Facet, ...] = ("symbol", "layout", "source")


class Name(msgspec.Struct, frozen=True, array_like=True, order=True, cache_hash=True, gc=False):
    """A declaration's identity across releases: its kind and its normal spelling.

    Functions and variables are spelled as the linker sees them (the mangled name, without a symbol version);
    records, enums and aliases by their qualified source name in normal form
    (see :mod:`abistore.model.names.qualified`), without the ``struct``, ``class``, ``union`` or ``enum`` keyword.
    """

    kind: Kind
    spelling: str

    def __str__(self) -> str:
        return f"{self.kind} {self.spelling}"


def unnamed_enum(first: str) -> Name:
    """What an enumeration without a name is called: by its first enumerator, qualified, ``geo::RED``."""
    scope, separator, name = first.rpartition("::")
    return Name("enum", f"{scope}{separator}{UNNAMED_ENUM}{name})")


def is_number(name: Name) -> bool:
    """Whether ``name`` is an export of a DLL that has a number and no name: ``#5``."""
    return name.spelling[:1] == "#" and name.spelling[1:].isdecimal() and name.kind in EXPORTS


def is_unnamed_enum(name: Name) -> bool:
    """Whether an enumeration has no name of its own."""
    return name.kind == "enum" and UNNAMED_ENUM in name.spelling


def by_name(item: tuple[Name, object]) -> str:
    """The key that sorts the items of a table by name: as names compare, and several times as fast."""
    name = item[0]
    return f"{name.kind}\0{name.spelling}"  # texts compare sooner than pairs


UNNAMED_ENUM: Final = "(anonymous enum "

EXPORTS: Final = ("function", "variable")
"""The kinds of names that libraries export."""

TYPES: Final[tuple[Kind, ...]] = ("record", "enum", "alias")
"""The kinds of names that stand for types."""

SELF = Name("library", "")
"""The library itself: its one entry carries SONAME, dependencies and other facts of the whole file."""

Trait: TypeAlias = Literal[
    "abstract",
    "befriends",
    "concept",
    "constant",
    "constexpr",
    "defined",
    "defined_within",
    "deprecated",
    "dummy",
    "final",
    "friend",
    "inline",
    "macro",
    "nodiscard",
    "noexcept",
    "refused",
    "standard_layout",
    "template",
    "undefined",
    "unresolved",
    "using",
]
"""What the text of a declaration says in a word. ``befriends``: a class with friends. ``constant``: a macro,
``constexpr`` or ``const`` object whose value compilers put into consumers; ``macro`` tells the first from the
others. ``defined``: who includes a header that declares the function compiles it, or all those of the class
template; not told of what is ``inline`` in C++. ``defined_within``: so it is with all functions of the classes in a
class template. ``dummy``: a definition that only gives a handle a type. ``friend``: declared in a class only, and
found through its arguments. ``refused``: compilers stop at whatever uses it, as an attribute, a macro or a pragma
says. ``undefined``: a function template, or a function of a class template, of which headers have no body.
``unresolved``: a macro names what no header has that the library's include: it compiles nowhere.
``using``: brings in what is declared elsewhere. Former versions told ``standard_layout`` here."""

COPIED: Final = frozenset({"constexpr", "inline", "template"})
"""What is said of functions that every program compiles for itself."""

NOT_EXPORTED: Final[frozenset[Trait]] = frozenset(
    {"concept", "constant", "constexpr", "defined", "friend", "inline", "macro", "template", "using"}
)
"""Traits of declarations that consumers use without an export of the library."""


class Argument(Encoded, frozen=True):
    """One parameter as a header writes it: its name, empty without one, and its default argument.

    ``length`` is of an array that it is written as (``char out[16]``), which is a pointer to callers; else 0.
    So are template parameters, of which the name is written with what introduces it (``typename T``, ``int N``).
    """

    name: str = ""
    default: str | None = None
    length: int = 0


EMPTY_BODY: Final = blake2b(b"{\0}", digest_size=16).hexdigest()
"""The digest of a body without statements; a constructor's initialises no member either."""


class InlineBody(Encoded, frozen=True):
    """What programs get a copy of when they use an inline function: its body.

    ``digest`` is of the body's tokens, without white space and comments. ``members`` are the private and protected
    members that it uses, and those whose names forbid it, qualified; ``types`` the private and protected types that it
    names, which former versions did not tell; ``calls`` the functions and variables of the library that it uses, as the
    linker sees them. All are sorted: what an inline body uses is part of the ABI, even where no consumer can name it.
    ``objects`` are the types of which it defines, copies or passes objects, so that it has their sizes; ``fields`` the
    data members whose places it has, qualified and in the order in which it names them first. Both include those of the
    functions that it calls and that only headers define which were not given. Macros name members of classes that no
    header defines (``::size``), and functions of which they are given a part (``foo_*_of``).
    """

    digest: str
    members: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    objects: tuple[Name, ...] = ()
    fields: tuple[str, ...] = ()


class Uses(Encoded, frozen=True):
    """What programs compile of a declaration beside an inline body uses of the library's inside.

    That is the body of a template, and with it all that stands in a class template; a default argument, and what a
    member is initialised with; of a macro, what its text names. All are as those of an :class:`InlineBody`. What
    depends on the arguments of a template is not in there, but each function is that such a call may choose.
    """

    members: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    objects: tuple[Name, ...] = ()
    fields: tuple[str, ...] = ()


class Meaning(Encoded, frozen=True):
    """What a macro stands for that names others: the value that its users get in the end, in one spelling.

    ``borrowed``: by way of a macro that is not the library's (``INT8_MIN``), which other systems may define otherwise.
    """

    value: str
    borrowed: bool = False


Use: TypeAlias = Literal["asked", "declaration", "inside", "macro"]
"""Where headers use a macro: in conditions (``#ifdef``), in their declarations, in other macros.

It is ``inside`` of others where all that use it are used by headers themselves, and have another first word.

One that is written as an expression is used by the bodies in headers as programs use it: no declaration has it.
"""


class Replacement(Encoded, frozen=True):
    """What a macro that stands for no value puts in its place: one with parameters, a piece of declarations, nothing.

    ``digest`` is of its tokens, in which parameters have numbers; empty where there are none. ``parameters`` counts
    those with a name; ``None`` for a macro without a list of them. A ``variadic`` one takes further arguments.
    ``used`` tells where the headers use it themselves, sorted.
    """

    digest: str = ""
    parameters: int | None = None
    variadic: bool = False
    used: tuple[Use, ...] = ()


class WrittenBase(Encoded, frozen=True):
    """One direct base class of a class template, as a header spells it: parameters of the template are numbers.

    ``geo::Shape<#0>`` is a base with the first argument.
    """

    type: str
    virtual: bool = False
    access: Literal["public", "protected", "private"] = "public"


Ability: TypeAlias = Literal[
    "aggregate",
    "assign",
    "cast",
    "copy",
    "copy_bytes",
    "default",
    "default_implicitly",
    "derive",
    "derived_assign",
    "derived_copy",
    "derived_default",
    "derived_destroy",
    "derived_move",
    "derived_move_assign",
    "destroy",
    "instantiate",
    "list_members",
    "literal",
    "move",
    "move_assign",
    "standard_layout",
]
"""What programs may do with a class. ``aggregate``: initialise its members by a list; ``list_members``: by one that
begins with a member, and not with a base; ``cast``: ask what an object is (``dynamic_cast``); ``copy_bytes``: copy it
as bytes; ``default_implicitly``: write ``{}`` for an object; ``instantiate``: have objects of this very class;
``literal``: have ``constexpr`` objects; ``derive``: have a class that derives from it and declares nothing. What begins
with ``derived_`` is what such a class can do."""


class Abilities(Encoded, frozen=True):
    """What a compiler answered when it was asked what programs can do with a class, and how it lies.

    ``lacking`` is what they cannot do, sorted. ``data_size`` is the size without padding at the end in which members of
    derived classes may lie, in bytes.
    """

    lacking: tuple[Ability, ...] = ()
    data_size: int = 0


class Instance(Encoded, frozen=True):
    """What programs can do with one instance of a class template, by its name."""

    spelling: str
    abilities: Abilities


class Declared(Shape, frozen=True, tag="D"):
    """What only the text of a public declaration tells. A further shape of the name says the rest, as elsewhere.

    ``traits`` are sorted; ``value`` is the spelling of a constant's or variable's value where the header has it.
    ``template`` are the parameters of a template, ``requires`` its constraint. ``expressions`` pairs enumerators with
    what their values are written as, and data members with how they are initialised. ``availability`` are platforms
    with what they say (``macos introduced=10.15``). A macro has a ``meaning`` where it names others and is a constant;
    headers have it ``handed`` to functions. ``within`` is an enumeration without a name, called by its first constant.
    ``promises`` are attributes by which compilers leave something out of callers: ``pure``, ``returns_nonnull``. All
    are sorted. ``uses`` are those of code that is no inline body. A macro that is no constant has a ``replacement``.
    ``bases`` are those of a class template, in their order. ``shown`` are what a template, or the friends of a class,
    let users have of namespaces that say that they are internal, by qualified names. ``abilities`` are those of a class
    that is complete; ``None`` where the compiler was not asked, or could not answer. A class template has those of the
    ``instances`` that the headers use, sorted.
    """

    traits: tuple[Trait, ...] = ()
    parameters: tuple[Argument, ...] = ()
    value: str | None = None
    body: InlineBody | None = None
    template: tuple[Argument, ...] = ()
    requires: str | None = None
    expressions: tuple[tuple[str, str], ...] = ()
    availability: tuple[str, ...] = ()
    meaning: Meaning | None = None
    within: str | None = None
    handed: tuple[str, ...] = ()
    promises: tuple[str, ...] = ()
    uses: Uses | None = None
    replacement: Replacement | None = None
    bases: tuple[WrittenBase, ...] = ()
    shown: tuple[str, ...] = ()
    abilities: Abilities | None = None
    instances: tuple[Instance, ...] = ()


T = TypeVar("T", covariant=True)


class Subject(msgspec.Struct, frozen=True):
    """What a delta is about: a declaration, or one part of it (a field, an enumerator, a base, a parameter).

    ``part`` is spelled for people and stable between runs: ``x``, ``parameter 2``, ``base geo::Shape``; empty for the
    declaration itself.
    """

    name: Name
    part: str = ""


class Added(msgspec.Struct, Generic[T], frozen=True):
    """Only the new side has it. ``within`` is the delta of the declaration whose part this is."""

    subject: Subject
    new: T
    within: Changed[Any] | None = None


class Removed(msgspec.Struct, Generic[T], frozen=True):
    """Only the old side has it, and the new side could have seen it."""

    subject: Subject
    old: T
    within: Changed[Any] | None = None


class Changed(msgspec.Struct, Generic[T], frozen=True):
    """Both sides have it, and it differs."""

    subject: Subject
    old: T
    new: T
    within: Changed[Any] | None = None


Delta: TypeAlias = Union[Added[T], Removed[T], Changed[T]]

FORMER_NAMES = {
    "abstract_constructor_removed": "ctor_abstract_removed",
    "availability_narrowed": "availability_changed.narrowed",
    "base_access_changed": "base_access_narrowed",
    "base_access_narrowed": "type_base_changed.access_narrowed",
    "base_access_widened": "type_base_changed.access_widened",
    "base_class_inserted": "base_empty_added",
    "base_empty_added": "type_base_changed.empty_added",
    "base_empty_removed": "type_base_changed.empty_removed",
    "base_empty_reordered": "base_class_position_changed.unmoved",
    "bundle_library_moved": "bundle_library_removed.moved",
    "class_symbols_added": "type_symbols_added",
    "class_symbols_removed": "type_symbols_removed",
    "compat_version_widened": "compat_version_changed.raised",
    "constant_build_changed": "constant_changed.build",
    "constant_default_changed": "constant_changed.default",
    "constant_enum_added": "constant_changed.to_enumerator",
    "constant_handed_changed": "constant_changed.passed_in",
    "constant_initializer_changed": "constant_changed.initializer",
    "constant_macro_added": "constant_changed.to_macro",
    "constant_macro_removed": "constant_changed.from_macro",
    "constant_number_changed": "constant_changed.integer",
    "constant_sentinel_changed": "constant_changed.sentinel",
    "constant_type_changed": "constant_changed.type",
    "constant_use_added": "constant_changed.usable",
    "constant_use_removed": "constant_changed.unusable",
    "constant_version_changed": "constant_changed.version",
    "constant_version_handed_changed": "constant_changed.version_passed_in",
    "constraint_widened": "constraint_changed.relaxed",
    "ctor_abstract_removed": "func_removed.abstract_constructor",
    "declaration_changed_otherwise": "declaration_changed",
    "declaration_inaccessible_changed": "declaration_changed.inaccessible",
    "declaration_inline_changed": "declaration_changed.inline",
    "declaration_inline_removed": "func_deleted_dwarf.inline",
    "declaration_inline_widened": "declaration_changed.inline_widened",
    "declaration_internal_changed": "declaration_changed.internal",
    "declaration_own_changed": "declaration_changed.own",
    "declaration_private_changed": "declaration_changed.private",
    "declaration_refusal_added": "availability_changed.refused",
    "declaration_scope_moved": "declaration_changed.scope_moved",
    "declaration_scope_narrowed": "declaration_changed.scope_narrowed",
    "declaration_scope_widened": "declaration_changed.scope_widened",
    "declaration_template_changed": "declaration_changed.template",
    "declaration_uncallable_changed": "declaration_changed.uncallable",
    "declaration_undeclared_changed": "declaration_changed.undeclared",
    "declaration_unexported_removed": "declaration_removed.unexported",
    "declaration_variant_added": "declaration_definition_added",
    "declaration_variant_removed": "declaration_definition_removed",
    "declaration_widened": "declaration_changed.widened",
    "empty_base_removed": "base_empty_removed",
    "empty_bases_reordered": "base_empty_reordered",
    "enum_lost_scope": "enum_scope_removed",
    "enum_member_alias_removed": "enum_member_removed.alias",
    "enum_member_combination_changed": "enum_member_value_changed.combination",
    "enum_member_constant_added": "enum_member_removed.to_constant",
    "enum_member_constant_changed": "enum_member_value_changed.to_constant",
    "enum_member_inner_added": "enum_member_added.inner",
    "enum_member_inserted": "enum_member_inner_added",
    "enum_member_sentinel_removed": "enum_member_removed.sentinel",
    "enum_member_value_respelled": "enum_member_value_changed.respelled",
    "enum_sentinel_removed": "enum_member_sentinel_removed",
    "enum_underlying_type_changed": "enum_underlying_type_reinterpreted",
    "enum_underlying_type_reinterpreted": "enum_underlying_size_changed.reinterpreted",
    "enum_underlying_type_respelled": "enum_underlying_size_changed.respelled",
    "enum_unused_changed": "enum_member_removed.unused",
    "evidence_call_options_changed": "toolchain_flag_drift.call_options",
    "evidence_options_changed": "evidence_narrowed.options",
    "evidence_weakened": "evidence_narrowed",
    "field_access_widened": "field_access_changed.widened",
    "field_conversion_changed": "type_field_type_changed.convertible",
    "field_conversion_removed": "type_field_type_changed.inconvertible",
    "field_grouping_changed": "type_field_type_changed.grouping",
    "field_private_changed": "type_field_type_changed.private",
    "field_private_removed": "type_field_removed.private",
    "field_private_renamed": "field_renamed.private",
    "field_reserved_removed": "type_field_removed.reserved",
    "field_retired": "field_use_removed",
    "field_trailing_added": "type_field_added.trailing",
    "field_type_reinterpreted": "type_field_type_changed.reinterpreted",
    "field_type_respelled": "type_field_type_changed.respelled",
    "field_uninitialized_added": "type_field_added.uninitialized",
    "field_unset_added": "type_field_added.unset",
    "field_use_removed": "type_field_removed.to_reserved",
    "fields_regrouped": "field_grouping_changed",
    "foreign_symbols_added": "symbols_foreign_added",
    "foreign_symbols_removed": "symbols_foreign_removed",
    "foreign_type_layout_changed": "type_foreign_layout_changed",
    "foreign_type_layout_drifted": "type_foreign_pointee_changed",
    "forwarder_moved": "pe_forwarder_changed.moved",
    "func_body_changed": "inline_body_changed.self_contained",
    "func_body_offset_changed": "inline_body_changed.offsets",
    "func_deallocation_added": "func_added.deallocation",
    "func_macro_added": "declaration_removed.to_macro",
    "func_noreturn_added": "func_promise_added.noreturn",
    "func_noreturn_removed": "func_promise_removed.noreturn",
    "func_prototype_changed": "func_params_changed.prototype",
    "func_return_added": "return_value_added",
    "func_scope_changed": "declaration_changed.static_function",
    "func_virtual_lost_pure": "virtual_method_pure_removed",
    "handle_became_opaque": "type_handle_definition_removed",
    "header_include_narrowed": "header_include_removed.covered",
    "inline_symbols_added": "symbols_inline_added",
    "inline_symbols_removed": "symbols_inline_removed",
    "internal_declaration_changed": "declaration_internal_changed",
    "internal_symbols_removed": "symbols_internal_removed",
    "library_allocated_type_resized": "type_handle_size_changed",
    "macho_clients_narrowed": "macho_linkage_flags_changed.clients_narrowed",
    "macho_clients_widened": "macho_linkage_flags_changed.clients_widened",
    "macho_directive_narrowed": "macho_directive_changed.hidden",
    "macho_directive_widened": "macho_directive_changed.shown",
    "macho_reexport_added": "macho_reexport_changed.added",
    "macho_reexport_removed": "macho_reexport_changed.removed",
    "macro_body_changed": "macro_changed.body",
    "macro_own_changed": "macro_changed.own",
    "macro_parameters_changed": "macro_changed",
    "macro_parameters_widened": "macro_changed.parameters_widened",
    "method_access_widened": "method_access_changed.widened",
    "mode_declaration_changed": "mode_changed.declaration",
    "mode_source_changed": "mode_changed.source",
    "namespace_version_changed": "inline_namespace_moved.unexported",
    "needed_added_outside_closure": "needed_library_added",
    "needed_filter_added": "needed_added.filter",
    "needed_library_added": "needed_added.library",
    "needed_symbol_added": "imported_symbol_added.unprovided",
    "needed_toolkit_changed": "needed_added.toolkit",
    "needed_version_changed": "needed_added.version",
    "opaque_kind_changed": "type_opaque_keyword_changed",
    "opaque_storage_changed": "union_storage_changed",
    "param_array_narrowed": "func_params_changed.array_longer",
    "param_array_widened": "func_params_changed.array_shorter",
    "param_conversion_changed": "func_params_changed.convertible",
    "param_conversion_removed": "func_params_changed.inconvertible",
    "param_default_value_added": "param_default_value_changed.added",
    "param_default_value_moved": "param_default_value_removed.overloaded",
    "param_inner_qualifier_added": "param_pointee_qualifier_added.inner",
    "param_type_reinterpreted": "func_params_changed.reinterpreted",
    "param_type_respelled": "func_params_changed.respelled",
    "private_field_removed": "field_private_removed",
    "private_field_renamed": "field_private_renamed",
    "private_type_changed": "type_private_changed",
    "reserved_field_removed": "field_reserved_removed",
    "return_conversion_changed": "func_return_changed.convertible",
    "return_conversion_removed": "func_return_changed.inconvertible",
    "return_inner_qualifier_removed": "func_return_pointee_qualifier_removed.inner",
    "return_type_narrowed": "func_return_changed.derived",
    "return_type_reinterpreted": "func_return_changed.reinterpreted",
    "return_type_respelled": "func_return_changed.respelled",
    "return_value_added": "func_return_changed.value_added",
    "soname_added": "soname_changed.added",
    "soname_introduced": "soname_added",
    "soname_moved": "soname_changed.package_kept",
    "special_member_added": "value_abi_trait_changed.special_member",
    "special_member_declaration_removed": "declaration_removed.special_member",
    "special_member_deleted": "special_member_deletion_added",
    "special_member_deletion_added": "func_deleted_dwarf.special_member",
    "special_member_restored": "special_member_deletion_removed",
    "symbol_default_version_added": "symbol_version_alias_changed.added",
    "symbol_default_version_changed": "symbol_version_alias_changed.redeclared",
    "symbol_default_version_dropped": "symbol_default_version_removed",
    "symbol_default_version_gained": "symbol_default_version_added",
    "symbol_default_version_removed": "symbol_version_alias_changed.removed",
    "symbol_private_version_changed": "symbol_version_node_removed.private",
    "symbol_runtime_added": "func_added.runtime_name",
    "symbol_runtime_versioned_added": "func_added.runtime_name_versioned",
    "symbol_undeclared_added": "symbols_added.undeclared",
    "symbol_undeclared_removed": "symbols_removed.undeclared",
    "symbol_version_removed": "symbol_version_defined_removed.of_export",
    "symbol_version_table_removed": "version_script_missing.table",
    "symbol_versioning_dropped": "symbol_versioning_removed",
    "symbol_versioning_removed": "version_script_missing.nodes",
    "symbols_dispatched_removed": "func_removed.dispatched",
    "symbols_foreign_added": "symbols_added.foreign",
    "symbols_foreign_removed": "symbols_removed.foreign",
    "symbols_inaccessible_removed": "symbols_removed.inaccessible",
    "symbols_inline_added": "symbols_added.inline",
    "symbols_inline_removed": "symbols_removed.inline",
    "symbols_instruction_set_removed": "func_removed.instruction_set",
    "symbols_internal_removed": "symbols_removed.internal",
    "symbols_number_changed": "pe_ordinal_retargeted.renumbered",
    "symbols_private_removed": "symbols_removed.private",
    "symbols_reexported_removed": "symbols_removed.reexported",
    "symbols_uncallable_removed": "symbols_removed.uncallable",
    "symbols_version_moved": "symbol_moved_version_node.many",
    "template_base_changed": "type_base_changed.template",
    "template_base_removed": "type_base_changed.template_removed",
    "template_default_value_added": "default_template_arg_changed.added",
    "template_default_value_removed": "default_template_arg_changed.removed",
    "template_definition_removed": "declaration_removed.template_body",
    "template_instantiation_removed": "func_removed.instantiation",
    "template_parameter_added": "mandatory_template_param_added.defaulted",
    "type_aggregate_changed": "type_ability_removed.aggregate_rerouted",
    "type_aggregate_removed": "type_ability_removed.aggregate",
    "type_assignment_removed": "type_ability_removed.assignment",
    "type_became_complete": "type_definition_added",
    "type_conversion_removed": "type_definition_changed.inconvertible",
    "type_copy_removed": "type_ability_removed.copy",
    "type_default_removed": "type_ability_removed.default",
    "type_definition_removed": "type_became_opaque.forward_declared",
    "type_definition_respelled": "type_definition_changed.respelled",
    "type_dependency_changed": "type_private_changed.dependency",
    "type_derivation_removed": "type_ability_removed.derivation",
    "type_destruction_removed": "type_ability_removed.destruction",
    "type_field_appended": "field_trailing_added",
    "type_final_added": "type_became_final.closed",
    "type_foreign_pointee_changed": "type_foreign_layout_changed.pointee",
    "type_handle_definition_removed": "type_became_opaque.handle",
    "type_handle_size_changed": "type_size_changed.handle",
    "type_move_removed": "type_ability_removed.move",
    "type_name_removed": "tag_type_renamed.undeclared",
    "type_no_longer_used": "type_use_removed",
    "type_opaque_changed": "type_private_changed.opaque",
    "type_opaque_keyword_changed": "source_level_kind_changed.opaque",
    "type_passing_changed": "value_abi_trait_changed.unused",
    "type_redefined": "type_definition_changed",
    "type_redefined_alike": "type_definition_respelled",
    "type_tail_padding_changed": "tail_padding_reuse_changed.derived",
    "type_triviality_removed": "type_ability_removed.triviality",
    "type_unreached_changed": "type_private_changed.unreached",
    "type_use_removed": "type_removed.unused",
    "typedef_added": "type_added.typedef",
    "typedef_base_reinterpreted": "typedef_base_changed.reinterpreted",
    "typedef_base_respelled": "typedef_base_changed.respelled",
    "typedef_conversion_changed": "typedef_base_changed.convertible",
    "typedef_conversion_removed": "typedef_base_changed.inconvertible",
    "typedef_redefined": "typedef_unused_changed",
    "typedef_unused_changed": "typedef_base_changed.unused",
    "undeclared_declaration_changed": "declaration_private_changed",
    "undeclared_export_removed": "symbol_undeclared_removed",
    "undeclared_symbols_removed": "symbols_private_removed",
    "union_fields_reordered": "union_field_reordered",
    "used_reserved_virtual": "virtual_method_reserved_renamed",
    "using_declaration_added": "declaration_added.using",
    "using_declaration_changed": "declaration_changed.using",
    "using_declaration_removed": "declaration_removed.using",
    "value_abi_trait_drifted": "type_passing_changed",
    "var_binding_changed": "symbolic_binding_mode_changed.variables",
    "var_conversion_changed": "var_type_changed.convertible",
    "var_conversion_removed": "var_type_changed.inconvertible",
    "var_initializer_added": "var_value_changed.at_run_time",
    "var_initializer_removed": "var_value_changed.at_load_time",
    "var_protection_added": "protected_visibility_changed.writable",
    "var_scope_changed": "declaration_changed.static_variable",
    "var_storage_narrowed": "var_became_const.storage",
    "var_storage_widened": "var_lost_const.storage",
    "var_type_reinterpreted": "var_type_changed.reinterpreted",
    "var_type_respelled": "var_type_changed.respelled",
    "versioned_symbol_scheme_changed": "symbols_version_moved",
    "virtual_access_changed": "virtual_method_access_narrowed",
    "virtual_access_widened": "virtual_method_access_widened",
    "virtual_method_access_narrowed": "method_access_changed.virtual_narrowed",
    "virtual_method_access_widened": "method_access_changed.virtual_widened",
    "virtual_method_appended": "virtual_method_trailing_added",
    "virtual_method_appended_closed": "virtual_method_closed_added",
    "virtual_method_closed_added": "virtual_method_added.closed",
    "virtual_method_final_added": "type_became_final.method",
    "virtual_method_inner_added": "virtual_method_added.inner",
    "virtual_method_inserted": "virtual_method_inner_added",
    "virtual_method_noexcept_added": "func_noexcept_added.virtual",
    "virtual_method_override_added": "virtual_method_added.override",
    "virtual_method_override_changed": "virtual_method_changed.inconvertible",
    "virtual_method_override_removed": "virtual_method_removed.override",
    "virtual_method_pure_removed": "virtual_method_changed.implemented",
    "virtual_method_replaced": "virtual_method_slot_changed",
    "virtual_method_reserved_renamed": "virtual_method_changed.reserved",
    "virtual_method_respelled": "virtual_method_changed.respelled",
    "virtual_method_signature_changed": "virtual_method_changed",
    "virtual_method_slot_changed": "virtual_method_changed.slot",
    "virtual_method_trailing_added": "virtual_method_added.trailing",
    "virtual_override_added": "virtual_method_override_added",
    "virtual_override_removed": "virtual_method_override_removed",
    "vtable_override_changed": "vtable_slot_changed.override",
    "vtable_pure_added": "vtable_slot_changed.pure_added",
    "vtable_pure_removed": "vtable_slot_changed.pure_removed",
    "vtable_thunk_added": "vtable_thunk_set_changed.added",
}
"""What a kind was called, and what it was called next: policies, suppressions and stored findings hold these."""

FOLDED_NAMES = {
    "availability_changed.allowed": "availability_changed",
    "constant_changed.limit_raised": "constant_changed",
    "constant_changed.reinterpreted": "constant_changed",
    "enum_member_removed.combination": "enum_member_removed",
    "enum_member_removed.experimental": "enum_member_removed",
    "enum_member_removed.reserved": "enum_member_removed",
    "enum_member_renamed.reserved": "enum_member_renamed",
    "enum_member_value_changed.reinterpreted": "enum_member_value_changed",
    "enum_underlying_size_changed.narrowed": "enum_underlying_size_changed",
    "func_return_changed.enumeration": "func_return_changed",
    "runtime_floor_raised.windows": "runtime_floor_raised",
    "symbol_decoration_changed.class_key": "symbol_decoration_changed",
    "symbol_version_defined_added.first": "symbol_version_defined_added",
    "symbol_version_defined_added.of_export": "symbol_version_defined_added",
    "symbols_removed.unobtainable": "func_removed",
    "system_minimum_widened.macos": "system_minimum_widened",
    "template_parameter_changed.removed": "template_parameter_changed",
    "typedef_base_changed.value_added": "typedef_base_changed",
    "virtual_method_added.unimplemented": "func_pure_virtual_added",
    "virtual_method_added.unreached": "virtual_method_added.trailing",
    "virtual_method_unimplemented_added": "func_pure_virtual_added",
    "virtual_method_unreached_added": "virtual_method_added.trailing",
}
"""Variants that are no more, and the kind of their findings today. Identities of these findings ended with them."""


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
_NAMES_NOW = {before: _last(before, FORMER_NAMES | FOLDED_NAMES) for before in FORMER_NAMES | FOLDED_NAMES}
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
