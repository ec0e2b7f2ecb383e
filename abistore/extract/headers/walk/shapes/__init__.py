"""From cursors to shapes: types, records, enumerations, functions and variables."""
