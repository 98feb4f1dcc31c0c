// Runs the authors' solvers on a policy that is read from standard input; prints what they find.
//   responses GAME METHOD PLAYER P ITERATIONS DEPTH < POLICY > FOUND
// Methods: `rnr`, their RNRSolver in the whole game. `none`, `resolving`, `full_path`, `full_trunk`,
// their ContinualResolve with this gadget. `joint`, `full`, their RNRSolver in their full gadget of
// every subgame, below the player's strategy as it was read: the model goes on in subgames beside, or
// the opponent is free there. A line of POLICY (the model, and a strategy of the player) and FOUND is
// an infostate, with "|" for newlines, a tab, and action:probability pairs.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>

#include "open_spiel/algorithms/rnr.h"
#include "open_spiel/game_transforms/continual_resolving.h"
#include "open_spiel/game_transforms/full_gadget.h"
#include "open_spiel/game_transforms/subgame_utils.h"

using namespace open_spiel;

// Their solver, which updates the target first, whoever that is.
struct TargetFirst : algorithms::RNRSolver {
  using RNRSolver::RNRSolver;
  void EvaluateAndUpdatePolicy() override {
    ++iteration_;
    for (int player : {target_player_, opponent_player_}) {
      ComputeCounterFactualRegret(*root_state_, player, root_reach_probs_, nullptr, 1.0);
      ApplyRegretMatchingPlusReset();
      ApplyRegretMatching();
    }
  }
};

// The model in a full gadget. In the subgames beside it goes on, or as the free opponent does now.
struct ModelInGadget : Policy {
  ModelInGadget(const TabularPolicy& model, const std::vector<std::unique_ptr<State>>& boundary,
                Player opponent)
      : model_(model) {
    for (const auto& state : boundary) {
      if (state->IsTerminal()) continue;
      auto& picks = picks_["full_boundary:" + state->InformationStateString(opponent) +
                           (opponent == 0 ? ":BSEL0" : ":BSEL1")];
      picks.clear();
      for (const auto& pure : EnumerateSubtreePureStrategies(*state, opponent)) {
        double weight = 1.0;
        for (const auto& infostate : CollectSubtreeInfostates(*state, opponent).infostates)
          weight *= GetProb(model.GetStatePolicy(infostate), pure->GetStatePolicy(infostate)[0].first);
        picks.push_back({static_cast<Action>(picks.size()), weight});
      }
    }
  }
  ActionsAndProbs GetStatePolicy(const std::string& infostate) const override {
    auto found = picks_.find(infostate);
    if (found != picks_.end())
      return free == nullptr ? found->second : free->CurrentPolicy()->GetStatePolicy(infostate);
    const std::string prefix = infostate[5] == 'F' ? "full_F:subgame:" : "full_trunk:";
    return model_.GetStatePolicy(infostate.substr(prefix.size()));
  }
  const algorithms::CFRSolverBase* free = nullptr;
  const TabularPolicy& model_;
  std::map<std::string, ActionsAndProbs> picks_;
};

TabularPolicy Read(std::istream& in) {
  TabularPolicy policy;
  for (std::string infostate, rest; std::getline(in, infostate, '\t') && std::getline(in, rest);) {
    std::replace(infostate.begin(), infostate.end(), '|', '\n');
    ActionsAndProbs probabilities;
    std::istringstream pairs(rest);
    Action action;
    char colon;
    for (double probability; pairs >> action >> colon >> probability;)
      probabilities.push_back({action, probability});
    policy.SetStatePolicy(infostate, probabilities);
  }
  return policy;
}

void Print(const TabularPolicy& policy, const std::string& prefix = "") {
  for (const auto& [full, probabilities] : policy.PolicyTable()) {
    if (full.rfind(prefix, 0) != 0) continue;
    std::string infostate = full.substr(prefix.size());
    std::replace(infostate.begin(), infostate.end(), '\n', '|');
    std::printf("%s\t", infostate.c_str());
    for (const auto& [action, probability] : probabilities)
      std::printf("%d:%.17g ", static_cast<int>(action), probability);
    std::printf("\n");
  }
}

// Histories by subgames, as ours has them: no player confuses histories of two of them.
std::unordered_map<std::string, std::vector<std::string>> Subgames(
    const std::vector<std::unique_ptr<State>>& boundary) {
  std::map<std::string, std::string> least;  // Of infostates: the smallest connected history.
  std::unordered_map<std::string, std::vector<std::string>> histories;
  for (bool changed = true; changed;) {
    changed = false;
    histories.clear();
    for (const auto& state : boundary) {
      if (state->IsTerminal()) continue;
      const std::string history = state->HistoryString();
      auto& first = least.try_emplace("0" + state->InformationStateString(0), history).first->second;
      auto& second = least.try_emplace("1" + state->InformationStateString(1), history).first->second;
      changed |= first != second;
      first = second = std::min({history, first, second});
      histories[first].push_back(history);
    }
  }
  return histories;
}

TabularPolicy Run(algorithms::CFRSolverBase& solver, int iterations) {
  for (int i = 0; i < iterations; ++i) solver.EvaluateAndUpdatePolicy();
  return solver.TabularAveragePolicy();
}

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  std::shared_ptr<const Game> game = LoadGame(argv[1]);
  const std::string method = argv[2];
  const int player = std::stoi(argv[3]), iterations = std::stoi(argv[5]), depth = std::stoi(argv[6]);
  const double p = std::stod(argv[4]);
  const TabularPolicy read = Read(std::cin);
  if (method == "rnr") {
    TargetFirst solver(*game, player, &read, p, true, true, true);
    Print(Run(solver, iterations));
  } else if (method == "joint" || method == "full") {
    const auto boundary = CollectStatesAtDepth(*game, depth);
    ModelInGadget model(read, boundary, 1 - player);
    const auto histories = Subgames(boundary);
    for (const auto& [group, _] : histories) {
      auto gadget = CreateFullGadgetGame(game, std::make_shared<TabularPolicy>(read), player, group,
                                         histories, FullGadgetGame::Mode::kTrunk, {}, {}, true);
      TargetFirst solver(*gadget, player, &model, p, true, true, true);
      model.free = method == "full" ? &solver : nullptr;
      Print(Run(solver, iterations), "full_F:subgame:");
    }
  } else {
    ResolvingConfig config;
    config.solver = SolverType::kRNR;
    config.lock_opponent_in_fixed_branch = true;
    config.gadget = std::map<std::string, GadgetType>{
        {"none", GadgetType::kNone}, {"resolving", GadgetType::kResolving},
        {"full_path", GadgetType::kFullPath}, {"full_trunk", GadgetType::kFullTrunk}}.at(method);
    config.p = p;
    config.target_player = player;
    config.cfr_iterations = iterations;
    Print(*ContinualResolve(game, read, config, depth, MVSGame::DepthMode::kActionBased));
  }
}
