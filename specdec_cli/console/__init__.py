"""What commands share at the terminal: options, input, output and reports. Their modules load fast."""
