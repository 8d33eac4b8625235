"""Finds a time's slice, by arithmetic, table or search. Read `edges`, `method`, `slice_sql`."""
