"""One thin module a command; torch and its like are imported when a command runs, not before."""
