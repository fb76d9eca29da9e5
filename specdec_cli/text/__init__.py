"""Text handling: lines, sentences, subwords, parallel text, edits."""
