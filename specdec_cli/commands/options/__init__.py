"""Options that mean the same in every command: one type and one help text each, and groups of them as dataclasses.

A default of None leaves a value to the bundle; `auto` chooses one for the model and the machine.
"""
