"""What differs: declarations, exports and their members, paired and without a judgement."""
