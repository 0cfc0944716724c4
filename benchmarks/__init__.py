"""Speed and memory beside the peers, measured in one run. `make bench` writes the table."""
