"""Which effects of a change follow from others by the rules of layout, so that they need no judgement of their own."""
