"""DWARF debug information, read on demand: exported symbols to compile units to the types they reach."""
