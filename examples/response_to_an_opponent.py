"""A response to an opponent of one's own: how much it wins, and how much it risks for that.

python examples/response_to_an_opponent.py
"""

import pyspiel
from open_spiel.python import policy

import spiel_dl as dl

GAME = pyspiel.load_game("leduc_poker")


class Timid(policy.Policy):
    """Folds more than it should, whatever it holds. Actions are 0 fold, 1 call, 2 raise."""

    def action_probabilities(self, state, player_id=None):
        weights = {0: 3.0, 1: 2.0, 2: 1.0}
        legal = state.legal_actions()
        total = sum(weights[action] for action in legal)
        return {action: weights[action] / total for action in legal}


tree, model = dl.compile_game(GAME), Timid(GAME, [0, 1])
limit = dl.DepthLimit(plies=2)
value = dl.game_value(tree, 0)
print(f"value of the game for player 0: {value:+.4f}")
responses = {
    "best response": dl.best_response_policy(tree, model, 0),
    "CDBR": dl.CDBR(tree, 0, model, limit).to_array_policy(),
    "CDRNR, p = 0.5": dl.CDRNR(tree, 0, model, limit, p=0.5).to_array_policy(),
    "RNR, p = 0.5": dl.RNR(tree, 0, model, p=0.5).to_array_policy(),
}
for name, response in responses.items():
    gain = dl.gain(tree, response, model, 0)
    risk = dl.player_exploitability(tree, response, 0)
    print(f"{name:16} gains {gain:.4f} against the opponent, exploitability {risk:.4f}")
