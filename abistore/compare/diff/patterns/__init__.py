"""What many exports and declarations changed in the same way: renamed, moved, one function by instruction sets."""
