"""Sequence-level knowledge distillation: a teacher translates source lines, stored in shards; an interrupted run can be resumed."""
