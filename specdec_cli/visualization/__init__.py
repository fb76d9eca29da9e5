"""Pictures of decoding: which token could be known when, and what each round drafted and accepted."""
