"""What an ABI is: names, types, shapes, snapshots, and what can be said about two of them."""
