"""The ELF format: what a shared object's tables say."""
