"""Conversion of models of other toolkits to bundles, and of bundles to CTranslate2 models."""
