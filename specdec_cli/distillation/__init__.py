"""Sequence-level knowledge distillation: a teacher translates source text into shards; an interrupted run can be resumed."""
