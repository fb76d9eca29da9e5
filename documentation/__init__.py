"""Programs that write and check README.md and docs/: recorded output, tables of stored results, generated pages and pictures."""
