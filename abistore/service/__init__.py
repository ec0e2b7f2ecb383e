"""The verbs of abistore: the one place that joins extracting, storing, comparing and reporting.

The command line, and every other front end, parses its words, calls one of these functions and renders the result.
Nothing here prints. Everything raises :class:`abistore.errors.AbistoreError` for what a user can meet.
"""
