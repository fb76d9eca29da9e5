"""Choices by measurement or by hardware: the costs of rounds on this machine, the number of drafted tokens, and the
precision.
"""
