"""Other packages' search algorithms on our tables: each a thin file over the oracle."""
