"""PDB files, the debug information of Windows: from exported addresses to functions to the types that these use."""
