"""The messages of conversations: latest window, summaries, what was shortened, working memory."""
