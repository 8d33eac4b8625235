"""What the benchmarks have in common: how they run, are kept, drawn and told."""
