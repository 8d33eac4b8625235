"""Other engines on the same work; `engines` has their queries, as their users would write them."""
