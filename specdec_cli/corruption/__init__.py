"""Errors that learners and careless writers make, put into clean English, for a corrector to learn from."""
