"""One file a command, or a few that belong together."""
