"""Pictures of decoding: dependencies between tokens, drafted and accepted tokens of each round, and statistics of a corpus."""
