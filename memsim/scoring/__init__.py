"""Score a replay by rule, from its trace alone.

No model is asked. A score is a share from 0 to 1, or None when there was nothing to measure. What
could not be measured is counted as such, and is never a zero.
"""

SCORING_VERSION = 4
"""Raise this number when a change gives other scores for the same trace."""
