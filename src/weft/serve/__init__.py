"""See the weave, and change it: a small web server over a stream's checkpoint or a stored plan.

It reads what a stream leaves in its checkpoint and asks for changes as `weft query` does; it starts
no Spark and imports none. Needs the extra `weft[dashboard]`.
"""
