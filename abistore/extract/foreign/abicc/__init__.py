"""ABICC's dumps: the output of Perl's Data::Dumper, tokenised and never evaluated."""
