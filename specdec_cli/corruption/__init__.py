"""Corruption: errors that learners and careless writers make, put into correct English as training data for a corrector."""
