"""What data say of a model's columns: how much each tells, which repeat each other, their shape."""
