"""A memory that is saved in a folder and goes on where it ended."""
