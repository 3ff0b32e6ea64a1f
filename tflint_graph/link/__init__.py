"""Stage 2: the indexes of a project to a map of what TensorFlow traces."""
