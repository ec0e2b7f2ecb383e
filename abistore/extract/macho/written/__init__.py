"""What dyld writes into a file when it loads it, and what that tells of vtables and type information."""
