"""The offline model: deterministic, free, and limited to the content of its request."""
