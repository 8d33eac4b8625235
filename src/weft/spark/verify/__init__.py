"""The plain Spark queries (`native`), and the plan's answers compared with theirs row by row."""
