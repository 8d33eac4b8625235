"""The dashboard: a small web server that shows and changes a stream's plan, or shows a stored plan.

It reads what a stream writes into its checkpoint, and requests changes as `weft query` does. It
neither starts nor imports Spark. It needs the extra `weft[dashboard]`.
"""
