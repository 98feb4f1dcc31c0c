"""The experiments of Kubíček et al. (2023), by name."""

from experiments.sepot.ablation import ABLATION
from experiments.sepot.curves import CFVS, CURVES
from experiments.sepot.distilled import DISTILLED_VALUES
from experiments.sepot.rational_tiles import POSITION
from experiments.sepot.safety import SAFETY
from experiments.sepot.table_1 import TABLE_1
from experiments.study import by_name

EXPERIMENTS = by_name(ABLATION, CURVES, CFVS, SAFETY, DISTILLED_VALUES, POSITION, TABLE_1)
