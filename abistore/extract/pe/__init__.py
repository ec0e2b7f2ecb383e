"""The PE format of Windows DLLs, and PDB files with their debug information."""
