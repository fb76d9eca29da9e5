"""Measurements of `specdec serve` on this machine: requests per second, latencies, and a soak test."""
