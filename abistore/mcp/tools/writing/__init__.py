"""The tools that write, which a server has with ``--allow-write``."""
