"""Which declarations the exports of a library reach, and by which they are reached."""
