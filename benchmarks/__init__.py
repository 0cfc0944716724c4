"""Speed, memory and accuracy beside the peers; `make bench` and `make accuracy` write the pages."""
