"""What people say: of releases, of findings, and of the breaks that they accept."""
