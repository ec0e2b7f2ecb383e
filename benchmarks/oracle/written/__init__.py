"""Edits that a person wrote down: what random ones do not reach, such as linking, templates and attributes.

Each is a header, a source and a program, with the lines of one side marked ``-`` or ``+``. Whether it breaks was
written down before abistore was asked, and a program shows it: compiled with the old header and linked with the old
library, it does something else with the new one, or nothing at all.
"""
