"""Bytes to text to regions, and positions back to lines and columns of the file."""
