"""Training samples of a `ParticleNetwork` from single searches, and their storage in files."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy.optimize
import torch

from spiel_dl.value_functions.particle_module import ParticleBatch


class SparseSample:
    """A sparse belief in one public state, and the values there.

    Attributes:
      public: float32 [G], public features.
      belief: float32 [K], summing to 1 for each player.
      reach: float32 [K], counterfactual reach at this belief.
      cfv: float32 [K], values at this belief, each in its player's utility.
    """

    def __init__(
        self,
        public: np.ndarray,
        features: np.ndarray,
        belief: np.ndarray,
        reach: np.ndarray,
        cfv: np.ndarray,
    ):
        """Takes the attributes, and `features`, float32 [K, F], of both players' infostates."""
        self.public, self.belief, self.reach, self.cfv = public, belief, reach, cfv
        self._num_features = features.shape[1]
        # Thousands of samples are kept, of thousands of infostates with hundreds of features each;
        # those of the rules' tensors are bits.
        are_bits = bool(((features == 0) | (features == 1)).all())
        self._features = np.packbits(features != 0, axis=1) if are_bits else features

    @property
    def features(self) -> np.ndarray:
        """Features of both players' infostates: float32 [K, F]."""
        if self._features.dtype != np.uint8:
            return self._features
        bits = np.unpackbits(self._features, axis=1, count=self._num_features)
        return bits.astype(np.float32)


_FLOATS = ("belief", "reach", "cfv")


def pack_samples(samples: Iterable[SparseSample]) -> dict[str, np.ndarray]:
    """Samples as arrays for a file, compressed without loss: features of bits to about a tenth.

    Returns:
      Arrays by name: `sizes`, int64 [N, 2], K and F of each sample; `are_bits`, bool [N]; and the
      samples' arrays joined, as bytes.
    """
    samples = list(samples)
    parts = {name: [getattr(sample, name) for sample in samples] for name in ("public", *_FLOATS)}
    for name, dtype in (("bits", np.uint8), ("features", np.float32)):
        # Features that are no bits are kept as they are.
        parts[name] = [s._features for s in samples if s._features.dtype == dtype]
    joined = {name: b"".join(part.tobytes() for part in own) for name, own in parts.items()}
    arrays: dict[str, np.ndarray] = {
        n: np.frombuffer(zlib.compress(b, 1), np.uint8) for n, b in joined.items()
    }
    sizes = [(len(s.belief), s._num_features) for s in samples]
    arrays["sizes"] = np.array(sizes, np.int64).reshape(-1, 2)
    arrays["are_bits"] = np.array([s._features.dtype == np.uint8 for s in samples], bool)
    return arrays


def unpack_samples(arrays: Mapping[str, np.ndarray]) -> list[SparseSample]:
    """The samples of arrays that `pack_samples` returned."""
    if not len(arrays["sizes"]):
        return []
    floats = {
        name: np.frombuffer(zlib.decompress(array.tobytes()), np.float32)
        for name, array in arrays.items()
        if name in ("public", "features", *_FLOATS)
    }
    bits = np.frombuffer(zlib.decompress(arrays["bits"].tobytes()), np.uint8)
    publics = floats["public"].reshape(len(arrays["sizes"]), -1)
    samples, first, first_byte, first_feature = [], 0, 0, 0
    sizes = zip(arrays["sizes"].tolist(), arrays["are_bits"].tolist(), strict=True)
    for public, ((size, num_features), is_bits) in zip(publics, sizes, strict=True):
        if is_bits:
            row = -(-num_features // 8)
            packed = bits[first_byte : first_byte + size * row].reshape(size, row)
            features = np.unpackbits(packed, axis=1, count=num_features).astype(np.float32)
            first_byte += size * row
        else:
            flat = floats["features"][first_feature : first_feature + size * num_features]
            features = flat.reshape(size, num_features)
            first_feature += size * num_features
        rows = slice(first, first + size)
        samples.append(SparseSample(public, features, *(floats[name][rows] for name in _FLOATS)))
        first += size
    return samples


def join_samples(
    samples: Sequence[SparseSample],
    device: torch.device | str = "cpu",
    *,
    conditional: bool = False,
) -> tuple[ParticleBatch, torch.Tensor, torch.Tensor]:
    """A training batch of n samples of up to Q infosets, for a conditional network or another.

    Returns:
      The batch; targets, float32 [n, Q]; and weights of errors, float32 [n, Q], 0 where there is no
      infoset. For a conditional network the weight is the counterfactual reach, divided by its mean
      in the sample: the fewer histories an infoset's value is the mean of, the less it says about
      other histories.
    """
    sizes = np.array([len(sample.belief) for sample in samples])
    is_entry = np.arange(sizes.max()) < sizes[:, None]
    infostate = np.zeros(is_entry.shape, np.int64)
    infostate[is_entry] = np.arange(sizes.sum())
    belief, reach, targets = np.zeros((3, *is_entry.shape), np.float32)
    belief[is_entry] = np.concatenate([sample.belief for sample in samples])
    targets[is_entry] = np.concatenate([sample.cfv for sample in samples])
    weights = is_entry.astype(np.float32)
    if conditional:
        reach[is_entry] = np.concatenate([sample.reach for sample in samples])
        np.divide(targets, reach, out=targets, where=reach > 0)
        weights = reach / (reach.sum(axis=1) / sizes)[:, None]
    features = np.concatenate([sample.features for sample in samples])
    public = np.stack([sample.public for sample in samples])
    inputs = ParticleBatch(
        *(torch.from_numpy(a).to(device) for a in (features, infostate, belief, public))
    )
    return inputs, torch.from_numpy(targets).to(device), torch.from_numpy(weights).to(device)


def possible_cfvs(
    belief: np.ndarray, reach: np.ndarray, cfv: np.ndarray, utility: float
) -> np.ndarray:
    """The nearest cfvs that are zero-sum and within the game's utilities: float64 [K].

    A sum other than 0, or a value beyond the utilities, is an error of the network; if it were
    learned from, it would grow from search to search. The same amount is taken from the value of
    each infoset once it is reached.

    Args:
      belief: float64 [K], both players' infosets.
      reach: float64 [K], counterfactual reach.
      cfv: float64 [K].
      utility: the game's largest utility, positive.
    """
    conditional = np.divide(cfv, reach, out=np.zeros_like(cfv), where=reach > 0)

    def cfvs(amount: float) -> np.ndarray:
        return reach * (conditional - amount).clip(-utility, utility)

    if not belief @ reach:
        return cfvs(0.0)
    # At these amounts all infosets are worth the largest utility, or all the smallest.
    bounds = conditional.min() - utility, conditional.max() + utility
    return cfvs(scipy.optimize.brentq(lambda amount: belief @ cfvs(amount), *bounds, xtol=1e-12))
