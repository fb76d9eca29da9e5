"""Parts of a text: paragraphs, markers, code and sentences."""
