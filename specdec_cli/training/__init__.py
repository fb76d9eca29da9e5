"""Training of verifiers and drafters: recipes, batches, losses, checkpoints."""
