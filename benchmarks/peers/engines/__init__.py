"""One engine per file, loaded only in the process that measures it.

An engine has `batch`, `stream` or `live`, for the kinds of runs that it is measured in. Each is a
context manager that starts the engine, loads its rows and returns the function to time. A batch
function returns the answers; the other two write them to the job's folder, where `answers` (or
`delivered`, with times) finds them. `version` says which version ran. At its top, a file may import
only what every environment has: the standard library, NumPy and pyarrow.
"""
