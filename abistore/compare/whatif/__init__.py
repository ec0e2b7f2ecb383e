"""What would happen: a release with other declarations, judged before it is built, and ways that do not break."""
