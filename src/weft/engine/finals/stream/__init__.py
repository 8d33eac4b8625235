"""Finals over a stream, in pieces: a batch reads and writes what it touches, not the window.

A slice's partials are a frame (keys and their partials); a structure combines frames as it
combines anything, and its cells live in pages that a state store holds under a name each.
"""

from weft.engine.finals.stream.frame import Frame, Frames
from weft.engine.finals.stream.state import StreamState

__all__ = ["Frame", "Frames", "StreamState"]
