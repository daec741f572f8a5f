"""Pseudonyms: replace names, addresses, identifiers and secrets in imported conversations."""
