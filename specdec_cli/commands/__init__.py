"""The commands of specdec, one module each; slow libraries such as torch are imported only when a command runs."""
