"""Policy networks as ONNX files, for programs that know neither OpenSpiel nor torch.

    write_onnx(dl.load_policy("rnad:leduc"), "leduc.onnx")

The file's inputs are `observation` (float32 [N, F], the network's features: `Rules.features`, or
`spiel_dl.games.features.features(state, player)`) and `legal` (bool [N, A]); its output is `policy`
(float32 [N, A]), 0 for illegal actions. Its metadata are the `game`, and the kind of features,
`sight`.
`load_policy("onnx:leduc.onnx", game)` plays it.
Needs `pip install -c constraints.txt -e ".[adapters]"` in the repository.
"""

from __future__ import annotations

import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import ILLEGAL_LOGIT
from spiel_dl.system.tensor_files import atomic_path

_OPSET = 17


def write_onnx(policy: openspiel_policy.Policy, path: str | os.PathLike[str]) -> None:
    """Writes a network policy, completely or not at all.

    Args:
      policy: a `NetworkPolicy`.
      path: of the file.

    Raises:
      ValueError: if it is no `NetworkPolicy`, or is fine-tuned.
    """
    if not isinstance(policy, NetworkPolicy):
        raise ValueError(
            f"{type(policy).__name__} is no NetworkPolicy, and has no network to write; of a "
            "learner in a compiled game, save the learner, and load_policy(FILE) has its network"
        )
    if policy.fine_tuning is not None:
        raise ValueError(f"{policy.fine_tuning} cannot be written; leave fine-tuning out")
    model = _model(policy)
    onnx.checker.check_model(model)
    with atomic_path(path) as temporary:
        temporary.write_bytes(model.SerializeToString())


def _model(policy: NetworkPolicy) -> onnx.ModelProto:
    weights, nodes, units = [], [], "observation"
    layers = policy.network.split_layers(policy.parameters.detach().cpu())
    for layer, (bias, weight, _) in enumerate(layers):
        is_last = layer == len(layers) - 1
        # The last column of the last layer is the value, which is not exported.
        num_columns = policy.network.num_actions if is_last else None
        for kind, tensor in (("weight", weight), ("bias", bias[0])):
            array = np.ascontiguousarray(tensor[..., :num_columns].numpy())
            weights.append(numpy_helper.from_array(array, f"{kind}_{layer}"))
        name = f"layer_{layer}"
        names = [units, f"weight_{layer}", f"bias_{layer}"]
        nodes.append(helper.make_node("Gemm", names, [name]))
        units = name
        if not is_last:
            units = f"units_{layer}"
            nodes.append(helper.make_node("Relu", [name], [units]))
    weights.append(numpy_helper.from_array(np.float32(ILLEGAL_LOGIT), "illegal"))
    nodes += [
        helper.make_node("Where", ["legal", units, "illegal"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["policy"], axis=-1),
    ]
    network = policy.network
    graph = helper.make_graph(
        nodes,
        "policy",
        [
            helper.make_tensor_value_info(
                "observation", TensorProto.FLOAT, ["N", network.num_inputs]
            ),
            helper.make_tensor_value_info("legal", TensorProto.BOOL, ["N", network.num_actions]),
        ],
        [helper.make_tensor_value_info("policy", TensorProto.FLOAT, ["N", network.num_actions])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])
    model.ir_version = 8  # The version of that opset, which recent runtimes support.
    helper.set_model_props(model, {"game": str(policy.game), "sight": policy.sight})
    return model
