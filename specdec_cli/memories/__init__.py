"""Translation memories and earlier versions of a text: finds the texts that drafts are made of."""
