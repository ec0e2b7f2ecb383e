"""Finding a library's debug information: where debuggers look, and on debuginfod servers."""
