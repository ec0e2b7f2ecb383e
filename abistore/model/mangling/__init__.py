"""Mangled C++ symbols (Itanium C++ ABI, section 5.1): what their beginnings tell, and how long they become."""
