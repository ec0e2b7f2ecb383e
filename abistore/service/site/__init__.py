"""The site: the whole store as pages in a folder, of which a second build writes only what changed."""
