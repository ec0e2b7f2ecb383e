"""Dumps of other tools: ABICC's Perl dumps, libabigail's ABIXML, and Debian's symbols files."""
