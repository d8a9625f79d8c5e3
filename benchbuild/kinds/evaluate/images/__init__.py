"""Networks that are trained on condensed images to judge them."""
