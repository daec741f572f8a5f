"""Run, load and compare from Python: the functions behind `memsim.run` and its results.

Everything here calls what the command line calls, so both give the same records.
"""
