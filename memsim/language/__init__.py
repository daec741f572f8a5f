"""Words, dates and numbers of the languages that the offline model reads; imports nothing else."""
