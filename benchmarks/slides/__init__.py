"""Compiled loops that drive a structure slide by slide, as in FlatFIT's experiments."""
