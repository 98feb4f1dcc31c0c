"""The networks themselves: perceptrons, their inputs, and Adam.

Nothing here knows a game or a policy. `policies.policy_network` makes policies of them, `learning`
trains them.
"""
