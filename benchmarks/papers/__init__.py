"""What the papers state about their tables, paper by paper, and how each statement is checked."""
