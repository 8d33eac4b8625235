"""What no paper has: our own targets, and how far the cost model and `auto` can be trusted."""
