"""The options that commands share, and what the project's file says in place of them."""
