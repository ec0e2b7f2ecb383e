"""What findings commonly say: the dictionary that their bodies are deflated with, which makes them half as long."""

from __future__ import annotations

from typing import Final

COMMON_WORDS: Final = (
    b"type_no_longer_used opaque_storage_changed private_type_changed func_return_changed return_type_reinterpreted "
    b"enum_member_removed enum_member_value_changed typedef_redefined vtable_changed type_alignment_changed "
    b"struct_field_offset_changed type_field_removed type_field_added type_field_type_changed field_type_respelled "
    b"func_params_changed param_type_respelled param_pointee_qualifier_added type_removed type_added func_removed "
    b"func_added var_removed var_added var_type_changed enum_member_added union_field_added type_size_changed "
    b"unsigned long unsigned int const char std::vector<std::__cxx11::basic_string<char, std::allocator<char>>> "
    b"operator= ::~ no export uses the type any more the enumerator is new the type is new the function is new "
    b"a private definition changed the room is given in another way the base moved the field moved the field is gone "
    b"a field was added at the end an alternative was added the value differs the alignment differs the size differs "
    b"the type of the field changed the function returns another type the parameter has another type bytes "
    b'{"kind":"type_","name":["variable","_ZTVN","name":["enum","name":["record","name":["function","_ZN",'
    b'"part":"result","description":"the function is no longer exported","impact":0,"facet":"symbol",'
    b'"impact":1,"facet":"layout","old_value":"offset ","impact":3,"facet":"layout","old_value":"struct ",'
    b'"new_value":"int","affected":[["function","_ZNK],["function","_ZN],"consequences":[{"kind":"type_size_changed",'
    b'"name":["record","part":"","description":"the size differs","impact":3,"facet":"layout","old_value":"",'
    b'"new_value":"","affected":[["function",""]],"gone":true}'
)
"""Never to change: what was written with it is read with it. Other words need another column, or rows of their own."""
