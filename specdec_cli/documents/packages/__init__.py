"""Documents that are ZIP files of parts."""
