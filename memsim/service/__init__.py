"""The memory service: AEGIS's memory behind its documented HTTP endpoints."""
