"""Pictures of decoding: dependency graphs of tokens, drafted and accepted tokens of rounds, statistics of a corpus."""
