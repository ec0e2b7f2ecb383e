"""What is read by its address: answers of the store as JSON and Markdown, and pages of documentation.

A resource never judges and never writes: it tells what is stored, and what the server keeps.
"""
