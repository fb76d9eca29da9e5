"""Documents: the parts of a file that are text, and the same file with these parts replaced."""
