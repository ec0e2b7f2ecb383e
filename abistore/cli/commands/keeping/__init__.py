"""The commands that keep stores together: bundles and merging."""
