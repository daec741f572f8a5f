"""Find and quote earlier messages and entries for a question."""
