"""Classes that programs derive from those of the library: which way their objects go."""
