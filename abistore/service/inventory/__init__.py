"""What releases hold: their exports and types, who uses a type, and which libraries provide a symbol."""
