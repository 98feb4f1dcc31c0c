"""The networks themselves: perceptrons, their inputs, and Adam.

Nothing here depends on games or policies. `policies.policy_network` makes policies of them,
`learning` trains them.
"""
