"""Search where public states cannot be listed: how much a bounded sample of them costs."""
