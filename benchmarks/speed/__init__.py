"""Speed and memory: a file for each part of docs/benchmarks.md."""
