"""From a time to its slice, by arithmetic, table or search. Read `edges`, `method`, `slice_sql`."""
