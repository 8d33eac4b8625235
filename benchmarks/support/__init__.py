"""Code that benchmarks share: to run them, and to store, draw and describe their results."""
