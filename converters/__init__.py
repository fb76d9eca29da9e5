"""Models from and to other toolkits, one toolkit a file."""
