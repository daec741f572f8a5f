"""Statistics: intervals, paired tests, and corrections for many tests.

Pure functions of their arguments: chance is seeded, and drawn from the raw bits of a generator
whose stream is fixed for good, so that the same values give the same interval on every machine.
"""
