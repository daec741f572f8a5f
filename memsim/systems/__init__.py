"""Published memory systems, each put together from the parts of `memsim.memory`."""
