"""Training pairs: reading, cleaning and augmentation."""
