"""Settings chosen by measurement: what a round costs on this machine, and how much to draft."""
