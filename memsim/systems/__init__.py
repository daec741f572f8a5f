"""Published memory systems, put together from the parts of `memsim.memory`, and retrieval."""
