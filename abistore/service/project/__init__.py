"""A project's file ``abistore.toml``."""
