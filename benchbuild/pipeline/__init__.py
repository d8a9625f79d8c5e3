"""The pipeline: from a plan to a verified table, whatever the kind of job."""
