"""The structures' hot loops, compiled: a batch of slides over numbers in one call.

Each works on the very cells and numbers that its structure keeps (see `slides.slides`), so a
structure may be driven by either in turn. `numbers` is laid out as `Final.numbers()` lists it:
first, end, capacity, origin, then the structure's own.
"""
