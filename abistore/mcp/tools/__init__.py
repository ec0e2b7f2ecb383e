"""The tools: one function each, as :mod:`abistore.mcp.tools.declaration` says."""
