"""Cogtrix: a window, a rolling summary, recalled exchanges, and what each mode keeps track of."""
