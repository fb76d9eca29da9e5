"""Operations on text: reading and writing of lines, sentences, subwords, parallel text, edits."""
