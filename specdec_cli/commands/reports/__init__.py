"""Reports of `correct --check`: its findings in the formats that editors and CI systems read."""
