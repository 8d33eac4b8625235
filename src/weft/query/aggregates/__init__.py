"""The aggregate algebra: what is kept per slice, and how answers are made of it.

A query's aggregate becomes parts (`Part`), each a monoid over slices; equal parts are shared.
Nothing here runs anything: the Python defines the meaning, the SQL says how Spark does the same.
"""
