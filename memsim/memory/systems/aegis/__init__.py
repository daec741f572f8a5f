"""The parts of AEGIS's memory: working memory, episodes and the injection ledger."""
