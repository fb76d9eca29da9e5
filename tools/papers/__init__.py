"""The tables and figures of the papers, measured with small models: what is run, and what was published."""
