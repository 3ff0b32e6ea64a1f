"""Stage 1: one file to a small, picklable FileIndex."""
