"""What functions take and return: qualifiers behind pointers, and function pointers that only the library supplies."""
