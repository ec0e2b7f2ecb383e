"""The MCP server: agents ask the history by the verbs of `interface`, as the command line does."""
