"""The tools: one function each, as ``declaration`` says."""
