"""Opening of models: search, conversion, device, precision and engine, for the commands, the server, bench and the Python API."""
