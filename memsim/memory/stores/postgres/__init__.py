"""A store in PostgreSQL, with vectors by pgvector."""
