"""The memory service: AEGIS's memory behind the endpoints that its document names."""
