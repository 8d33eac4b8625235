"""FlatFIT (SSDBM'17)."""
