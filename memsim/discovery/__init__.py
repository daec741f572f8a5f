"""Find strategies and scenarios: by path, in a project, in installed packages, or in memsim."""
