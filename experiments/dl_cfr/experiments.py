"""The experiments of Kovařík et al. (2021) with value networks in DL-CFR+, by name.

"Main Experiments": `checkpoints` (loss against exploitability, Figure 2), `left_out` (public states
that the network never saw) and `ranges` (those asked for against those trained on). "Additional
Experiments": `losses`, `amount` (of data) and `size` (of the network). Beyond the paper:
`on_policy`.
"""

from experiments.dl_cfr.checkpoints import CHECKPOINTS
from experiments.dl_cfr.left_out import LEFT_OUT
from experiments.dl_cfr.on_policy import ON_POLICY
from experiments.dl_cfr.ranges import RANGES
from experiments.dl_cfr.variations import AMOUNT, LOSSES, SIZE
from experiments.study import by_name

EXPERIMENTS = by_name(CHECKPOINTS, LEFT_OUT, RANGES, LOSSES, AMOUNT, SIZE, ON_POLICY)
