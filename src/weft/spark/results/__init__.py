"""Answers of a batch: by query, in one long table, side by side, or delivered to a sink."""
