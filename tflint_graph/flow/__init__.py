"""Stage 3: one region of source to facts about every name and expression in it."""
