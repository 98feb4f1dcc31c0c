"""Self-play: its samples, and that the network which learns from them plays better."""

import numpy as np
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl import DepthLimit, GameTree, trunk_nash_conv
from spiel_dl.algorithms import dl_cfr
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, ParticleSelfPlayConfig
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.particle_samples import join_samples
from tests.particle_networks import SMALL, leaves_of
from tests.reference import assert_same_arrays

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"
LIMIT = DepthLimit(rounds=1)


@pytest.mark.parametrize(("width", "number"), [(1, 2), (4, 3 + 4), (16, 3 + 9)])
def test_samples_of_a_game(width, number):
    """Rounds 2 and 3 of 4 are looked at, the last of which decides the game by itself."""
    network = ParticleNetwork(SMALL)
    samples = ParticleSelfPlay(
        GOOFSPIEL_4, network, LIMIT, ParticleSelfPlayConfig(width=width, iterations=500)
    ).play()
    assert len(samples) == number
    for sample in samples:
        for player in (0, 1):
            # The first feature of an infostate that differs between players is its player.
            own = sample.features[:, -2 + player] == 1
            assert sample.belief[own].sum() == pytest.approx(1.0)
        assert np.abs(sample.cfv).max() <= 1
        assert len(np.unique(sample.features, axis=0)) == len(sample.features)
        np.testing.assert_array_equal(
            sample.features[:, : len(sample.public)], np.tile(sample.public, (len(sample.cfv), 1))
        )
    # Below the last one nothing is estimated: the players' values cancel but for what CFR+ leaves.
    last = samples[-1]
    assert (last.belief * last.cfv).sum() == pytest.approx(0.0, abs=5e-3)


def test_public_states_side_by_side_are_worth_what_each_is_alone():
    """With the same values at leaves, for any ranges of the other public states."""
    network = ParticleNetwork(SMALL)
    learner = ParticleSelfPlay(
        GOOFSPIEL_4, network, LIMIT, ParticleSelfPlayConfig(width=3, iterations=500)
    )
    followed = learner._next_particles(learner._solve([learner._root_particles()]))
    together = learner._solve(followed)
    first = 0
    for particles in followed:
        found = learner._sample(particles, first, together)
        alone = learner._sample(particles, 0, learner._solve([particles]))
        for name in ("public", "features", "belief", "reach"):
            np.testing.assert_allclose(getattr(found, name), getattr(alone, name), rtol=1e-6)
        np.testing.assert_allclose(found.cfv, alone.cfv, atol=1e-3)
        first += particles.num_particles
    assert first == 4 * 4


def test_values_that_no_play_can_have_are_not_learned():
    """Learning from them would make the next values larger, without bound."""
    network = ParticleNetwork(SMALL)
    learner = ParticleSelfPlay(GOOFSPIEL_4, network, LIMIT, ParticleSelfPlayConfig(iterations=3))
    learner.play()
    with torch.no_grad():
        for parameter in network.module.parameters():
            parameter.mul_(10)
    leaves = leaves_of(GOOFSPIEL_4, LIMIT)
    ones = (np.ones(leaves.num_infosets(player)) for player in (0, 1))
    values = network.bind(leaves).evaluate(*ones)
    assert max(np.abs(value).max() for value in values) > 1000
    assert max(np.abs(sample.cfv).max() for sample in learner.play()) <= 1


def test_values_are_zero_sum_whatever_the_network_says():
    """A network's values need not sum to 0, and searching players take the best."""
    network = ParticleNetwork(SMALL)
    learner = ParticleSelfPlay(GOOFSPIEL_4, network, LIMIT, ParticleSelfPlayConfig(iterations=3))
    for number in range(4):
        for sample in learner.play():
            together = (sample.belief * sample.cfv).sum()
            assert together == pytest.approx(0.0, abs=1e-6)
            assert np.abs(sample.cfv).max() <= 1
        with torch.no_grad():
            # Up, or down, for all infosets alike.
            list(network.module.parameters())[-1].add_((-1) ** number * 0.3)


def test_a_conditional_network_learns_what_infosets_are_worth_once_reached():
    """In the last sample of a game, where nothing is estimated, that is 1, 0 or -1 on average."""
    learner = ParticleSelfPlay(
        GOOFSPIEL_4,
        ParticleNetwork(SMALL, conditional=True),
        LIMIT,
        ParticleSelfPlayConfig(budget=3, iterations=100),
    )
    for _ in range(4):
        sample = learner.play()[-1]
        own = sample.features[:, -2] == 1
        # Beliefs sum to 1 for each player, so both come together equally often.
        joint = [sample.belief[rows] @ sample.reach[rows] for rows in (own, ~own)]
        assert joint[0] == pytest.approx(joint[1], rel=1e-6)
        assert (sample.reach <= 1 + 1e-6).all()
        _, targets, weights = join_samples([sample], conditional=True)
        np.testing.assert_allclose(weights[0] * sample.reach.mean(), sample.reach, rtol=1e-5)
        assert targets.abs().max() <= 1 + 1e-6
        np.testing.assert_allclose(targets[0].numpy() * sample.reach, sample.cfv, atol=1e-6)


@pytest.mark.slow
def test_it_learns_to_solve_the_trunk():
    """Uniform play has a trunk NashConv of 0.5, the untrained network of 2.0."""
    network = ParticleNetwork(ParticleSizes(32, 3, 1.0, 3, 2.0))
    learner = ParticleSelfPlay(
        GOOFSPIEL_4, network, LIMIT, ParticleSelfPlayConfig(budget=50, iterations=50)
    )
    learner.run(200)
    solver = dl_cfr.DLCFRSolver(GameTree.from_game(GOOFSPIEL_4), network, LIMIT)
    solver.run(100)
    assert trunk_nash_conv(solver.trunk.tree, solver.average_policy(), LIMIT) < 0.3


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    config = ParticleSelfPlayConfig(budget=4, iterations=3)
    learner = ParticleSelfPlay(GOOFSPIEL_4, ParticleNetwork(SMALL), LIMIT, config)
    learner.save(tmp_path / "checkpoint")
    for other in (
        ParticleSelfPlay(GOOFSPIEL_4, ParticleNetwork(), LIMIT, config),
        ParticleSelfPlay(GOOFSPIEL_4, ParticleNetwork(SMALL), DepthLimit(rounds=2), config),
    ):
        with pytest.raises(ValueError, match="use the same game and settings"):
            other.load(tmp_path / "checkpoint")


def test_half_a_state_changes_nothing():
    config = ParticleSelfPlayConfig(budget=4, iterations=3)
    learner = ParticleSelfPlay(GOOFSPIEL_4, ParticleNetwork(SMALL), LIMIT, config)
    other = ParticleSelfPlay(GOOFSPIEL_4, ParticleNetwork(SMALL), LIMIT, config)
    learner.step()
    before, whole = other.state(), learner.state()
    for name in ("buffer.cfv", "generator"):
        half = {n: array for n, array in whole.items() if n != name}
        with pytest.raises(ValueError, match=f"the state has no {name}"):
            other.load_state(half)
    for text in (b"{", b"[1]", b'{"bit_generator": "MT19937"}', b"\xff"):
        broken = {**whole, "generator": np.frombuffer(text, np.uint8)}
        with pytest.raises(ValueError, match="the state's generator is none"):
            other.load_state(broken)
    assert_same_arrays(before, other.state())
