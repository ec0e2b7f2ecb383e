"""What the public headers of a release say: of exports, of types, and of the insides of classes."""
