"""The report of a saved run: numbers computed once, and shown in several formats."""
