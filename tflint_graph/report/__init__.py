"""What a run prints: text, full text, JSON, GitHub workflow commands, statistics."""
