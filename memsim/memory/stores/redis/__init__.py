"""A store and a working memory in Redis."""
