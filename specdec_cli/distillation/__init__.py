"""Sequence-level distillation: a teacher's translations of source text, in shards that can be resumed."""
