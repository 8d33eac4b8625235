"""Where answers go.

No Spark imports.
"""
