"""Libraries, their lines, the releases of each line, and the baselines that stand at them."""
