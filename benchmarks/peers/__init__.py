"""What one would use without tallybayes."""
