"""The rules: one file per rule, one folder per family; installed as `tflint_graph.rules`."""
