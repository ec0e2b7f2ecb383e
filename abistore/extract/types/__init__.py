"""What every reader of declarations does alike: type references, foreign names, and how classes are passed."""
