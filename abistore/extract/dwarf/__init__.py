"""DWARF debug information: from exported symbols to their compile units to the types that these use."""
