"""A structure driven slide by slide, compiled, as in FlatFIT's experiments."""
