"""Factor windows (cost-based rewriting)."""
