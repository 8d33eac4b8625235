"""WeaveShare (CIKM'11)."""
