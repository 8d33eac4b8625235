"""The structures' hot loops, compiled: a batch of slides over numbers in one call.

Each works on the same cells and numbers as its structure (see `slides.slides`), so that the two can
take turns. `numbers` has the layout of `Final.numbers()`: first, end, capacity, origin, and then
the structure's own numbers.
"""
