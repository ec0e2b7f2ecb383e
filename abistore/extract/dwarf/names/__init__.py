"""The names of entries: qualified, and spelled as every compiler would spell them."""
