"""What some units only declare: looked for in the others, or else read as far as it is shown."""
