"""What AutoGraph cannot convert (TFG1xx)."""
