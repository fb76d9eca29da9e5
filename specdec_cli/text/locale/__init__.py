"""What depends on a language: detection, abbreviations, numbers and times."""
