"""What trainings of every kind compute with: devices, sparse products, meters, the loop."""
