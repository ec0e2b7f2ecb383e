"""What is read by its address: answers of the store as JSON and Markdown, and pages of documentation.

A resource never reads a library and never writes: it tells what is stored, and what the server keeps. Only the
questions that :mod:`abistore.mcp.resources.history` asks of the history judge stored releases when they are read.
"""
