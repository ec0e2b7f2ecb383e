"""The protocol: every call and reading goes through here, and leaves a line in the log."""
