"""What is compiled from C on the machine itself: passes through a model in bytes, and the steps of a round on a CPU."""
