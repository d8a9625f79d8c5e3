"""How many steps a number takes to 1: a kind of table and a kind of job of their own."""
