"""Words, dates and numbers of texts; the lowest package, which imports nothing else of memsim."""
