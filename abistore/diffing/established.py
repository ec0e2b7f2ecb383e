"""The names that kinds of change have in the field, and why some of them have no kind here."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.policy import kinds

_NAMES = """
func_removed func_removed_elf_only func_removed_from_binary func_added func_return_changed func_params_changed
func_noexcept_added func_noexcept_removed func_virtual_added func_virtual_removed var_removed var_added
var_type_changed type_size_changed type_alignment_changed type_field_removed type_field_added
type_field_offset_changed type_field_type_changed type_base_changed type_vtable_changed type_added type_removed
type_field_added_compatible enum_member_removed enum_member_added enum_member_value_changed
enum_last_member_value_changed typedef_removed func_static_changed func_cv_changed func_visibility_changed
func_visibility_protected_changed func_pure_virtual_added func_virtual_became_pure union_field_added
union_field_removed union_field_type_changed typedef_base_changed field_bitfield_changed soname_changed soname_missing
visibility_leak needed_added needed_removed rpath_changed runpath_changed compat_version_changed executable_stack
elf_visibility_changed symbol_binding_changed symbol_binding_strengthened symbol_type_changed symbol_size_changed
ifunc_introduced ifunc_removed common_symbol_risk symbol_version_defined_removed symbol_version_defined_added
symbol_version_required_added symbol_version_required_added_compat symbol_version_required_removed dwarf_info_missing
struct_size_changed struct_field_offset_changed struct_field_removed struct_field_type_changed
struct_alignment_changed enum_underlying_size_changed calling_convention_changed value_abi_trait_changed
struct_packing_changed type_visibility_changed toolchain_flag_drift frame_register_changed func_deleted
var_became_const var_lost_const type_became_opaque base_class_position_changed base_class_virtual_changed
enum_member_renamed param_default_value_changed param_default_value_removed field_renamed param_renamed
field_became_const field_lost_const field_became_volatile field_lost_volatile field_became_mutable field_lost_mutable
param_pointer_level_changed return_pointer_level_changed method_access_changed field_access_changed anon_field_changed
var_value_changed type_kind_changed source_level_kind_changed used_reserved_field removed_const_overload
param_restrict_changed param_became_va_list param_lost_va_list constant_changed constant_added constant_removed
var_access_changed var_access_widened func_became_inline func_lost_inline func_deleted_elf_fallback
template_param_type_changed template_return_type_changed typedef_version_sentinel symbol_elf_visibility_changed
symbol_renamed_batch func_likely_renamed symbol_leaked_from_dependency_changed func_ref_qual_changed
func_language_linkage_changed symbol_version_alias_changed tls_var_size_changed protected_visibility_changed
glibcxx_dual_abi_flip_detected inline_namespace_moved vtable_symbol_identity_changed abi_surface_explosion
symbol_version_node_removed symbol_moved_version_node soname_bump_recommended soname_bump_unnecessary
version_script_missing sycl_implementation_changed sycl_pi_version_changed sycl_pi_entrypoint_removed
sycl_pi_entrypoint_added sycl_plugin_removed sycl_plugin_added sycl_plugin_search_path_changed
sycl_runtime_version_changed sycl_backend_driver_req_changed flexible_array_member_changed func_deleted_dwarf
"""

ESTABLISHED = tuple(_NAMES.split())
"""The 145 names of the field's oldest catalogue, in its order."""

_LATER_NAMES = """
executable_stack_removed relro_weakened stack_canary_removed fortify_source_weakened writable_executable_segment
layer_coverage_asymmetric versioned_symbol_scheme_detected struct_return_convention_changed tag_type_renamed
ctor_explicit_added ctor_explicit_removed type_became_final type_lost_final inline_namespace_version_bumped
abi_tag_changed atomic_qualifier_changed handle_type_changed abi_relevant_build_flag_changed exceptions_mode_changed
rtti_mode_changed tls_model_changed threadsafe_statics_mode_changed enum_size_flag_changed struct_packing_mode_changed
char_signedness_changed float_abi_changed public_macro_value_changed default_argument_changed constexpr_value_changed
uninstantiated_template_removed odr_source_conflict public_macro_removed inline_function_removed
source_fact_coverage_incomplete exported_not_public odr_type_variant unversioned_exported_symbol rtti_for_internal_type
stdlib_implementation_changed base_class_offset_changed vptr_introduced trivially_copyable_lost standard_layout_lost
tail_padding_reuse_changed layout_unverifiable vtable_slot_count_changed rtti_inheritance_changed static_tls_introduced
static_tls_removed cet_protection_weakened branch_protection_weakened cet_protection_improved
branch_protection_improved symbol_binding_became_unique symbol_binding_lost_unique vtable_thunk_offset_changed
vtable_thunk_set_changed vtt_slot_count_changed long_double_abi_changed runtime_floor_raised dt_relr_introduced
dt_relr_removed rpath_type_changed time64_abi_changed imported_symbol_added imported_symbol_removed bind_now_disabled
x86_isa_baseline_raised dynamic_loading_flags_changed allocator_replacement_added library_version_downgraded
func_variadic_added func_variadic_removed func_contract_attribute_added func_contract_attribute_removed
func_exception_spec_changed platform_baseline_floor_raised runtime_symbol_provider_changed
runtime_weak_resolution_changed needed_order_changed symbolic_binding_mode_changed text_relocation_introduced
text_relocation_removed declaration_renamed type_became_abstract type_lost_abstract enum_became_scoped
func_deprecated_added func_deprecated_removed var_deprecated_added var_deprecated_removed type_deprecated_added
type_deprecated_removed enum_deprecated_added enum_deprecated_removed func_added_elf_only var_added_elf_only
var_visibility_changed func_export_added var_export_added param_pointee_qualifier_added param_pointee_qualifier_changed
func_return_pointee_qualifier_added func_return_pointee_qualifier_removed func_return_pointee_qualifier_changed
param_restrict_added var_removed_elf_only inline_body_changed template_body_changed default_template_arg_changed
mandatory_template_param_added concept_tightened hidden_friend_added hidden_friend_removed std_reexport_removed
cpo_kind_changed experimental_graduated experimental_removed_without_replacement behavioural_default_changed
field_default_initializer_changed field_default_initializer_removed public_not_exported
source_decl_binary_symbol_mismatch instantiation_missing_from_binary pe_forwarder_changed
pe_hardening_weakened pe_hardening_improved pe_ordinal_retargeted pe_import_load_mode_changed
macho_filetype_changed macho_linkage_flags_changed macho_reexport_changed
bundle_intra_dep_removed
bundle_intra_dep_signature_changed bundle_intra_type_changed bundle_provider_changed
bundle_manifest_instantiation_removed bundle_manifest_instantiation_added bundle_library_removed bundle_library_added
bundle_intra_dep_resolved_to_different_version bundle_soname_skew bundle_unresolved_intra_dependency
bundle_duplicate_provider bundle_intra_dep_signature_unverified bundle_manifest_entry_unsatisfied
virtual_method_added symbol_size_changed_internal symbol_size_changed_const_object
internal_symbol_required_by_public_api sycl_overload_set_removed public_api_internal_dependency_added
public_to_internal_dependency inline_body_references_renamed_member serialization_tag_changed
cpu_dispatch_isa_dropped overload_added
unspecified_return_now_named char8t_migration bit_int_width_changed opaque_invariant_broken
undocumented_export_ratio_increased link_export_policy_changed public_typedef_target_changed public_typedef_removed
include_graph_public_header_drift enum_lost_scoped field_deprecated_added field_deprecated_removed
secondary_vtable_group_changed polymorphic_type_non_virtual_dtor unnamed_type_in_public_abi
overload_ambiguity_introduced ctor_overload_ambiguity_risk overload_set_rerouted hash_style_removed interpreter_changed
allocator_replacement_removed cxx_standard_floor_raised wchar_model_changed sanitizer_mode_changed lto_mode_changed
whole_program_vtables_mode_changed build_context_changed compile_context_conflict header_binary_context_mismatch
header_build_context_mismatch source_binary_provenance_mismatch source_surface_dso_mismatch identity_collision_detected
"""

LATER = tuple(_LATER_NAMES.split())
"""Names that the field found later, as far as a library's own evidence proves them."""

EXCLUDED: dict[str, str] = {
    "frame_register_changed": (
        "only debuggers and unwinders use the frame register, which they read from the file; no caller depends on it"
    ),
    "sycl_pi_version_changed": (
        "the version of the plugin interface is returned by a function; tables and layouts do not hold it"
    ),
    "sycl_plugin_removed": "plugins are files beside the runtime; a snapshot is of one library",
    "sycl_plugin_added": "plugins are files beside the runtime; a snapshot is of one library",
    "sycl_plugin_search_path_changed": (
        "the runtime finds plugins next to itself or by environment variables; paths in the file are reported by "
        "rpath_changed and runpath_changed"
    ),
    "sycl_runtime_version_changed": (
        "the runtime's version is its SONAME, reported by soname_changed; a dependency's version by "
        "needed_added.version"
    ),
    "sycl_backend_driver_req_changed": (
        "drivers are opened at run time; the versions that a plugin is linked to are reported by "
        "symbol_version_required_added and needed_added.version"
    ),
    "bundle_intra_dep_signature_changed": (
        "reported for the library that exports the function: func_params_changed, func_return_changed; different "
        "layouts of a type in two libraries are reported by bundle_intra_type_changed"
    ),
    "bundle_intra_dep_signature_unverified": "each library lists what was not checked, with the reason",
    "bundle_intra_dep_resolved_to_different_version": (
        "reported for the library that needs the version: symbol_version_required_added; a version that its "
        "provider does not define by bundle_intra_dep_removed"
    ),
    "bundle_manifest_instantiation_removed": "there is no manifest: a release contains what its package contains",
    "bundle_manifest_instantiation_added": "there is no manifest: a release contains what its package contains",
    "bundle_manifest_entry_unsatisfied": "there is no manifest: a release contains what its package contains",
}
"""Established names that no evidence of a library proves, and why."""


BEYOND: dict[str, str] = {
    "toolchain_version_changed": (
        "the compilers of a release are shown with it; the effects of another version are reported separately"
    ),
    "libcpp_abi_version_changed": (
        "the version is a namespace (std::__1): all mangled names that mention it change, which func_removed reports"
    ),
    **dict.fromkeys(
        ("python_stable_abi_violation", "python_abi3_dropped", "python_abi3_floor_raised", "python_gil_abi_changed"),
        "the file name of a module shows its interpreters; what it needs from them is reported by "
        "imported_symbol_added",
    ),
    **dict.fromkeys(
        ("exported_object_alignment_reduced", "var_alignment_changed"),
        "symbols have no alignment: an address is aligned by chance too; that of a type is type_alignment_changed",
    ),
    **dict.fromkeys(
        (
            "integer_model_changed",
            "elf_machine_changed",
            "elf_class_changed",
            "elf_abi_flags_changed",
            "elf_osabi_changed",
            "elf_endianness_changed",
            "macho_cpu_type_changed",
            "pe_machine_changed",
        ),
        "libraries of two platforms are never compared: that is an error, which names both",
    ),
    **dict.fromkeys(
        ("support_promise_component_retired", "support_promise_component_introduced"),
        "a package does not record which of its libraries are supported; bundle_library_removed and "
        "bundle_library_added report the contents",
    ),
    **dict.fromkeys(
        (
            "kabi_symbol_removed",
            "kabi_crc_changed",
            "kabi_symbol_namespace_changed",
            "kabi_export_type_changed",
            "kabi_symbol_added",
        ),
        "kernel modules are relocatable files, which no reader reads; their checksums are in Module.symvers",
    ),
    **dict.fromkeys(
        (
            "python_api_function_removed",
            "python_api_function_added",
            "python_api_class_removed",
            "python_api_class_added",
            "python_api_method_removed",
            "python_api_method_added",
            "python_api_parameter_removed",
            "python_api_parameter_added",
            "python_api_parameter_renamed",
            "python_api_default_removed",
            "python_api_parameter_type_changed",
            "python_api_return_type_changed",
            "python_api_parameter_kind_changed",
            "python_api_callable_kind_changed",
            "python_api_overload_removed",
            "python_api_stub_invalid",
        ),
        "a module registers its functions and classes at run time; no table or layout of the library contains them",
    ),
    **dict.fromkeys(
        (
            "numpy_capi_consumption_added",
            "numpy_capi_consumption_removed",
            "numpy_target_floor_raised",
            "numpy_metadata_understates_required_version",
            "numpy_abi_major_incompatible",
        ),
        "modules fetch NumPy's table of functions when they are run; no import of the library names it",
    ),
    **dict.fromkeys(
        (
            "musllinux_glibc_dependency_detected",
            "wheel_tag_architecture_mismatch",
            "wheel_rpath_not_portable",
            "wheel_closure_dependency_violation",
        ),
        "package checkers compare a package's promises with its contents; for the library itself see "
        "runtime_floor_raised, rpath_changed and needed_added.library",
    ),
    **dict.fromkeys(
        (
            "generated_file_dependency_unstable",
            "generated_header_changed",
            "generated_header_reaches_public_api",
            "target_dependency_added",
            "build_option_reaches_public_symbol",
        ),
        "the build itself is not part of a release; its effects on headers or the library are reported separately",
    ),
    **dict.fromkeys(
        (
            "source_to_binary_mapping_changed",
            "exported_symbol_source_owner_changed",
            "declaration_moved",
            "declaration_coordinates_shifted",
            "declaration_identity_reconciled",
            "declaration_identity_reconciled_unresolved",
            "declaration_identity_unchanged",
        ),
        "the location of a declaration is shown with findings; no program depends on it",
    ),
    **dict.fromkeys(
        ("internal_type_leaks_via_public_api", "internal_template_leaks_via_public_api", "public_reachability_changed"),
        "a change of a type that exports reach is a finding that names them, whatever the type's namespace is",
    ),
    **dict.fromkeys(
        ("public_surface_grew", "public_surface_shrank"),
        "each added or removed export and declaration is a finding; a jump of their number is abi_surface_explosion",
    ),
    **dict.fromkeys(
        ("suppression_would_hide_public_break", "suppression_reachability_unknown"),
        "no fact of a release: reports list all that was suppressed, with its impact and the reason",
    ),
    **dict.fromkeys(
        ("consumer_required_symbol_removed", "consumer_runtime_load_failed"),
        "a fact about one program: func_removed and var_removed report the imports that a release lacks",
    ),
    **dict.fromkeys(
        ("func_override_specifier_added", "func_override_specifier_removed"),
        "the compiler checks it where the class is compiled; vtables show the overridden slots",
    ),
    **dict.fromkeys(
        ("public_dependency_role_changed", "public_dependency_role_unknown"),
        "a part that build files give dependencies; needed libraries are compared as the loader sees them",
    ),
    "pie_disabled": "a shared library is always position-independent; only exports of an executable are compared",
    "evidence_required_missing": "no fact of a release: `--require` refuses to judge without the evidence",
    "vector_abi_changed": (
        "which registers pass wide vectors depends on target options of callers, which no file of the library records"
    ),
    "api_depends_on_consumer_env": "headers are read once, with the macros given; other branches of #if are not read",
    "public_api_exposes_stl_by_value": (
        "not a change by itself: another standard library is reported by stdlib_implementation_changed and "
        "type_foreign_layout_changed"
    ),
    "header_parse_context_drift": "a limit, not a finding: headers read with other options are not checked",
    "stdlib_debug_mode_changed": (
        "no compiler records the macro; debug containers have other names (std::__debug), so mangled names and "
        "layouts show it"
    ),
    "call_graph_public_entry_reachability_changed": "bodies of the library's own functions are not read",
    "private_header_leak": "a header that includes a missing one does not parse, which the evidence shows",
    "elf_init_fini_changed": "code that runs when a library is loaded is not compared",
    "virtual_base_offset_changed": (
        "programs read it from the vtable at run time; objects that they lay out are reported by type_size_changed"
    ),
}
"""Names that the field found later and that no evidence of a library proves, or that are no change, and why."""


def established() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Every established name in order, with the kinds that tell its fact, or the reason why none does."""
    known, reasons = kinds(), EXCLUDED | BEYOND
    return ((name, known.get(name, ()), reasons.get(name, "")) for name in (*ESTABLISHED, *LATER, *BEYOND))
