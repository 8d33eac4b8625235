"""Studies beyond the papers: our own targets, and how good the cost model and `auto` are."""
