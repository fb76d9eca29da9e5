"""Input and output: lines of files, windows of lines, output files."""
