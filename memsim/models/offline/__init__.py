"""The offline model: deterministic, free, and bound to what its request holds."""
