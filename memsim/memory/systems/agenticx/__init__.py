"""AgenticX's memory: a workspace of Markdown, its index, scratchpads, compacted conversations."""
