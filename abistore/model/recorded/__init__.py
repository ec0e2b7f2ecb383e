"""What inputs record and what they do not, so that two of them are compared in what both can say."""
