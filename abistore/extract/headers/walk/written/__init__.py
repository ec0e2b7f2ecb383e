"""What only the text of a declaration tells: traits, defaults, values, bodies, templates."""
