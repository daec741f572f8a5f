"""Plan, play and record the cases of a run.

The command line and the pytest plugin both stand on this, so their numbers cannot differ.
"""
