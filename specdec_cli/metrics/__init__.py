"""Quality metrics: pure functions of outputs and references."""
