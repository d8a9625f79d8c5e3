"""The condensation methods: one file each, by what they condense."""
