"""Words of English: tables of function words, inflected forms, derived words."""
