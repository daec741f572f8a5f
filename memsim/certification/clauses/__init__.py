"""The clauses of the contract, a file for each kind of promise; new files are found by name."""
