"""What methods that condense one graph share: the problem, the payload, their parts."""
