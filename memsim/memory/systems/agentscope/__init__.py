"""AgentScope's memory: in memory, self-compressing, and for the long term."""
