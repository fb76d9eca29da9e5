"""`--ray` of the commands that process lines: options, what the workers do, the run, and its progress."""
