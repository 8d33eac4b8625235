"""The figures, tables and claims of the five papers, a folder for each paper."""
