"""How the headers of both sides were read: which were given, and what chose between their declarations."""
