"""Debug files from debuginfod servers: asked for by build-id, downloaded, kept in a cache."""
