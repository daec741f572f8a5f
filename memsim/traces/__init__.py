"""Recorded conversations: read from the formats of other tools, kept in one file, written back."""
