"""`StepGraph`: a learner step as one CUDA graph, so that Python does not keep the GPU waiting.

A step on small networks is hundreds of small kernels, and launching each from Python takes longer
than running it. A CUDA graph is launched as a whole.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from spiel_dl.learning.sources import Source

# Kernels and workspaces are loaded in a few ordinary steps before the graph is captured.
_NUM_ORDINARY_STEPS = 3


class StepGraph:
    """Calls a function: the first times as usual, from then on as a captured CUDA graph.

    The function must run the same kernels on the same memory each time: it must change tensors in
    place, must not read back their values, nor depend on Python values that change.
    """

    def __init__(self, function: Callable[[], torch.Tensor], source: Source):
        """Captures nothing yet.

        Args:
          function: the function to call.
          source: plays its games; its generator is the only one that the function draws from.

        Raises:
          ValueError: if the games are not on a CUDA device, or are played by Python.
        """
        device = source.generator.device
        if device.type != "cuda":
            raise ValueError(
                f"CUDA graphs need a CUDA device, and this is {device}; pass "
                'device="cuda", or do without graphs'
            )
        if not source.is_capturable:
            raise ValueError(
                "this game has no Rules, so Python plays it, which no CUDA graph can hold; raise "
                "max_tree_histories, or do without graphs"
            )
        self._function, self._generator = function, source.generator
        self._stream = torch.cuda.Stream(device)
        self._num_calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: torch.Tensor | None = None

    def __call__(self) -> torch.Tensor:
        """The function's result, which the next call overwrites.

        Raises:
          RuntimeError: if the function cannot be captured.
        """
        self._num_calls += 1
        if self._num_calls <= _NUM_ORDINARY_STEPS:
            return self._call()
        if self._graph is None or self._result is None:
            self._graph, self._result = self._capture()
        self._graph.replay()
        return self._result

    def _call(self) -> torch.Tensor:
        """A call without a graph, on the stream that is later used to capture."""
        current = torch.cuda.current_stream(self._generator.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            result = self._function()
        current.wait_stream(self._stream)
        return result

    def _capture(self) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
        """The graph of a call, which is not run yet, and the tensor for its result."""
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._generator)
        # In this mode, allocations by libraries in autograd's threads do not end the capture.
        context = torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local")
        cause: BaseException | None = None
        try:
            with context:
                try:
                    result = self._function()
                except Exception as error:
                    cause = error  # the end of the capture hides it
                    raise
        except Exception as error:
            free, total = (size / 2**30 for size in torch.cuda.mem_get_info())
            reason = cause or error
            raise RuntimeError(
                f"a step could not be captured as a CUDA graph: {type(reason).__name__}: {reason}. "
                f"{free:.1f} of {total:.1f} GiB are free, and a graph holds all that a step needs "
                "at once: use a smaller batch_size, or cuda_graph=False"
            ) from reason
        return graph, result
