"""Error types: what kind of error an edit of English text corrects, by rules, and a sentence that explains it."""
