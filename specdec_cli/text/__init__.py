"""Lines in and out, sentences, subwords and parallel text."""
