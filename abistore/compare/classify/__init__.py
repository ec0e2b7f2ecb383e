"""What kind of difference it is: exactly one for each place, so that one rule reports it."""
