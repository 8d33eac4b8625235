"""One engine per file, loaded only in the process that measures it.

An engine has `batch`, `stream` or `live`, whichever it is measured in: a context that brings the
engine up with its rows and gives the function that is timed. A batch function returns the answers;
the other two leave them in the job's folder, where `answers` (and `delivered`, with times) finds
them. `version` says what ran. A file may import at its top only what every environment has: the
standard library, NumPy and pyarrow.
"""
