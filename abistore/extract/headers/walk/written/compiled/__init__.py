"""What programs compile of headers: inline bodies, templates, default arguments and initialisers."""
