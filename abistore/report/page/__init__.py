"""Pages: the templates of HTML reports, their style sheet and their script."""
