"""The work of each command, apart from its options: a module imports at its top all that the work needs, and a command imports it."""
