"""Types of both sides: how far two are the same, and what is known of one."""
