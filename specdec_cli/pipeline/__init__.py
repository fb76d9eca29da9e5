"""Translation and correction of text: settings, choice of drafter and search, splitting of lines into sentences."""
