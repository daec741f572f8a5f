"""A store of Markdown files that people can read and edit."""
