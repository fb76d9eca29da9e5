"""Tools for the project, which are not installed: they keep the pages true, and measure what the pages show."""
