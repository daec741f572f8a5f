"""Memories of others under test: what a black box needs to become a strategy."""
