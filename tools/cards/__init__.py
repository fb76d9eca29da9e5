"""The generated parts of the cards of the shipped models: figures on the dev sets, and examples drawn at random."""
