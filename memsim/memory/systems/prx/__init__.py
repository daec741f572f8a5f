"""PRX's memory: rows by key and category, five tools, access control, hygiene, snapshots."""
