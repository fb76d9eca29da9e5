"""Text in, text out: options, lines and sentences, the choice of drafter and search, translation and correction."""
