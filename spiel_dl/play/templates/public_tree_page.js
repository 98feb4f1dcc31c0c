// The page of a whole public tree, whose data are embedded in the page.

const view = JSON.parse(document.getElementById("data").textContent);
const states = new Map(view.public_states.map((state) => [state.number, state]));
const children = new Map(view.public_states.map((state) => [state.number, []]));
const root = view.public_states[0].number;
for (const state of view.public_states) children.get(state.parent)?.push(state);

async function load(number) {
  const state = states.get(number);
  if (!state) throw new Error(`This page has no public state ${number}.`);
  const above = [];
  for (let each = states.get(state.parent); each; each = states.get(each.parent)) {
    above.unshift(each.number);
  }
  const below = children.get(number)
    .map((child) => ({ ...child, ends: !children.get(child.number).length }));
  const unit = view.depth_limit.split(" ")[1];
  return { state, below, above, largestUtility: view.largest_utility, unit };
}

const publicTreeView = publicTree(
  document.getElementById("tree"), document.getElementById("detail"), load);
// Selects the first decision: chance nodes at the root have no infosets of interest.
const isDecision = (state) => state.players.some((player) => player >= 0);
const first = (view.public_states.find(isDecision) ?? view.public_states[0]).number;
const selectFromAddress = () => publicTreeView.select(stateInAddress() ?? first);
window.addEventListener("hashchange", selectFromAddress);
publicTreeView.start(root, true).then(selectFromAddress);
