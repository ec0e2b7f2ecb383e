"""Text stubs (``.tbd``) of dylibs, which linkers read instead of the libraries: versions 1 to 5."""
