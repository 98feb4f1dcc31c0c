"use strict";
// Texts reach the page as text nodes and attributes only, so nothing in them is ever markup.

const view = JSON.parse(document.getElementById("data").textContent);
const tree = document.getElementById("tree");
const detail = document.getElementById("detail");
const states = new Map(view.public_states.map((state) => [state.number, state]));
const children = new Map(view.public_states.map((state) => [state.number, []]));
const root = view.public_states[0];
for (const state of view.public_states) children.get(state.parent)?.push(state);
const items = new Map();
// Actions in colours that people with any colour vision can tell apart (Okabe and Ito).
const COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#8aa4ff", "#d55e00"];
const FIRST_ROWS = 60;
const BY_NUMBER = new Intl.Collator("en", { numeric: true });

function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

function show(number, signed = false) {
  if (number === null) return "\u2013";
  if (number === 0) return "0";
  const size = Math.abs(number);
  const digits = size >= 0.001 && size < 1e6 ? String(Number(size.toPrecision(4)))
    : size.toExponential(2);
  return (number < 0 ? "\u2212" : signed ? "+" : "") + digits;
}

function percent(probability) {
  if (probability > 0 && probability < 0.001) return "<0.1%";
  return `${Number((100 * probability).toFixed(1))}%`;
}

function who(state) {
  return state.players
    .map((player) => (player < 0 ? "chance" : `player ${player}`)).join(" or ");
}

// The tree.

function makeItem(state, level) {
  const turn = make("span", { class: "turn", "aria-hidden": "true" });
  const row = make("div", { class: "row" }, turn, make("span", { class: "label" }, state.name),
    make("span", { class: "reach", title: `reach probability ${state.reach}` },
      percent(state.reach)));
  const item = make("li", {
    role: "treeitem", tabindex: "-1", "aria-level": level, "aria-selected": "false",
    "aria-label": `${state.name}, reach ${percent(state.reach)}`,
  }, row);
  if (state.reach === 0) item.classList.add("never");
  if (children.get(state.number).length) item.setAttribute("aria-expanded", "false");
  turn.addEventListener("click", (event) => { event.stopPropagation(); toggle(state); });
  row.addEventListener("click", () => { location.hash = `state-${state.number}`; });
  item.dataset.state = state.number;
  items.set(state.number, item);
  return item;
}

function isOpen(state) {
  return items.get(state.number).getAttribute("aria-expanded") === "true";
}

function toggle(state, open = !isOpen(state)) {
  const item = items.get(state.number);
  if (!item.hasAttribute("aria-expanded")) return;
  item.setAttribute("aria-expanded", open);
  let group = item.querySelector(":scope > [role=group]");
  if (open && !group) {
    const level = Number(item.getAttribute("aria-level")) + 1;
    group = make("ul", { role: "group" },
      ...children.get(state.number).map((child) => makeItem(child, level)));
    item.append(group);
  }
  if (group) group.hidden = !open;
}

function openFirstLevels() {
  let level = [root];
  let rows = 1;
  while (level.length) {
    const next = level.flatMap((state) => children.get(state.number));
    rows += next.length;
    if (rows > FIRST_ROWS) return;
    for (const state of level) toggle(state, true);
    level = next;
  }
}

function path(state) {
  const found = [];
  for (let each = state; each; each = states.get(each.parent)) found.unshift(each);
  return found;
}

tree.addEventListener("keydown", (event) => {
  const item = event.target.closest("[role=treeitem]");
  if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
  const state = states.get(Number(item.dataset.state));
  const visible = [...tree.querySelectorAll("[role=treeitem]")]
    .filter((each) => !each.closest("[hidden]"));
  const place = visible.indexOf(item);
  const below = children.get(state.number);
  const moves = {
    ArrowDown: () => visible[place + 1],
    ArrowUp: () => visible[place - 1],
    Home: () => visible[0],
    End: () => visible[visible.length - 1],
    ArrowRight: () => {
      if (below.length && isOpen(state)) return items.get(below[0].number);
      toggle(state, true);
      return item;
    },
    ArrowLeft: () => {
      if (below.length && isOpen(state)) { toggle(state, false); return item; }
      return items.get(state.parent);
    },
    Enter: () => { location.hash = `state-${state.number}`; return item; },
    " ": () => { location.hash = `state-${state.number}`; return item; },
  };
  if (!(event.key in moves)) return;
  event.preventDefault();
  focusItem(moves[event.key]() ?? item);
});

function focusItem(item) {
  for (const each of tree.querySelectorAll("[tabindex='0']")) each.tabIndex = -1;
  item.tabIndex = 0;
  item.focus();
}

// A public state.

function fact(name, value, title) {
  return make("div", title ? { title } : {}, make("dt", {}, name), make("dd", {}, value));
}

function term(name, title) {
  return make("abbr", { title }, name);
}

function link(state) {
  return make("a", { href: `#state-${state.number}` }, state.name);
}

function rangeCell(infoset) {
  const bar = make("div", { class: "bar", title: infoset.range },
    make("i"), make("span", {}, show(infoset.range)));
  bar.firstChild.style.width = `${100 * infoset.range}%`;
  return make("td", { class: "range" }, bar);
}

function valueCell(number, largest) {
  const cell = make("td", { class: "number" }, show(number, true));
  if (number === null) return cell;
  cell.title = number;
  const strength = largest > 0 ? Math.min(1, Math.abs(number) / largest) : 0;
  const colour = number < 0 ? "--bad" : "--good";
  cell.style.backgroundColor = `rgba(var(${colour}), ${(0.55 * strength).toFixed(3)})`;
  return cell;
}

function strategyCell(infoset, colours) {
  const words = infoset.actions
    .map((action) => `${action.name} ${percent(action.probability)}`).join(", ");
  const stack = make("div", { class: "stack", role: "img", "aria-label": words });
  for (const action of infoset.actions) {
    if (action.probability === 0) continue;
    const title = `${action.name}: ${action.probability}, utility ${show(action.value, true)}`;
    const part = make("i", { title }, action.probability > 0.09 ? percent(action.probability) : "");
    part.style.width = `${100 * action.probability}%`;
    part.style.backgroundColor = colours.get(action.name);
    stack.append(part);
  }
  const utilities = infoset.actions
    .map((action) => `${action.name} ${show(action.value, true)}`).join(" \u00b7 ");
  return make("td", { class: "strategy" }, stack,
    make("div", { class: "utilities", title: "expected utility of always taking an action here" },
      utilities));
}

function key(colours) {
  return make("ul", { class: "key" }, ...[...colours].map(([name, colour]) => {
    const swatch = make("span", { class: "swatch" });
    swatch.style.backgroundColor = colour;
    return make("li", {}, swatch, name);
  }));
}

function playerTable(state, player) {
  const infosets = [...state.infosets[player]].sort((a, b) => BY_NUMBER.compare(a.own, b.own));
  const acts = infosets.some((infoset) => infoset.actions.length);
  const actions = infosets.flatMap((infoset) => infoset.actions).sort((a, b) => a.id - b.id);
  const names = [...new Set(actions.map((action) => action.name))];
  const colours = new Map(names.map((name, at) => [name, COLOURS[at % COLOURS.length]]));
  const largest = Math.max(...infosets.map((infoset) => Math.abs(infoset.cfv)));
  const head = make("tr", {},
    make("th", { scope: "col", class: "name" }, "infoset"),
    make("th", { scope: "col", class: "range" }, term("range", "the player's own reach probability")),
    make("th", { scope: "col", class: "number" },
      term("opponent's reach", "reach of chance and the opponent, summed over histories")),
    make("th", { scope: "col", class: "number" },
      term("cfv", "counterfactual value, unnormalised, in the player's utility")),
    make("th", { scope: "col", class: "number" },
      term("cfv / reach", "cfv divided by the opponent's reach: the expected utility here")));
  if (acts) {
    head.append(make("th", { scope: "col", class: "strategy" }, "strategy, ",
      term("utilities of actions", "expected utility of always taking an action here")));
  }
  const body = make("tbody");
  for (const infoset of infosets) {
    const row = make("tr", {},
      make("td", { class: "name", title: infoset.string },
        infoset.own || "all it knows is public"),
      rangeCell(infoset),
      make("td", { class: "number", title: infoset.opponent_reach }, show(infoset.opponent_reach)),
      valueCell(infoset.cfv, largest),
      valueCell(infoset.value, view.largest_utility));
    if (infoset.actions.length) row.append(strategyCell(infoset, colours));
    body.append(row);
  }
  const count = `${infosets.length} infoset${infosets.length === 1 ? "" : "s"}`;
  const mass = `total range ${show(state.range_mass[player])}`;
  return [
    make("h3", {}, `Player ${player}${acts ? ", to act" : ""}`, " ",
      make("span", { class: "note" }, `\u2013 ${count}, ${mass}`)),
    ...(acts ? [key(colours)] : []),
    make("div", { class: "wide" }, make("table", { class: acts ? "acts" : "waits" }, make("thead", {}, head), body)),
  ];
}

function describe(state) {
  const below = children.get(state.number);
  const way = make("div", { class: "path" });
  for (const each of path(state).slice(0, -1)) way.append(link(each), " \u203a ");
  const parts = [
    way,
    make("h2", {}, `Public state ${state.number}: ${state.name}`),
    make("dl", {},
      fact("acts", who(state)),
      fact("histories", String(state.num_histories)),
      fact("reach probability", show(state.reach), state.reach),
      fact("value", show(state.value, true), "player 0's expected utility once play is here"),
      fact("depth", `${state.depth} ${view.depth_limit.split(" ")[1]}`)),
  ];
  if (state.observation.length) {
    parts.push(make("ul", { class: "seen", "aria-label": "What everybody knows" },
      ...state.observation.map((part) => make("li", {}, part))));
  }
  if (state.is_leaf) {
    parts.push(make("p", { class: "note" }, "The depth limit ends the tree here."));
  } else if (below.length) {
    const next = make("p", {}, make("span", { class: "note" }, "leads to "));
    below.forEach((child, at) => next.append(...(at ? [", "] : []), link(child)));
    parts.push(next);
  } else {
    parts.push(make("p", { class: "note" }, "The game ends after this."));
  }
  for (const player of [0, 1]) parts.push(...playerTable(state, player));
  detail.replaceChildren(...parts);
  detail.scrollTop = 0;
}

function selectFromAddress() {
  const wanted = /^#state-(\d+)$/.exec(location.hash);
  const state = wanted ? states.get(Number(wanted[1])) : root;
  if (!state) {
    detail.replaceChildren(make("p", {}, `This page has no public state ${wanted[1]}.`));
    return;
  }
  for (const each of path(state).slice(0, -1)) toggle(each, true);
  for (const each of tree.querySelectorAll("[aria-selected=true]")) {
    each.setAttribute("aria-selected", "false");
  }
  const item = items.get(state.number);
  item.setAttribute("aria-selected", "true");
  for (const each of tree.querySelectorAll("[tabindex='0']")) each.tabIndex = -1;
  item.tabIndex = 0;
  item.firstChild.scrollIntoView({ block: "nearest" });
  describe(state);
}

tree.append(makeItem(root, 1));
openFirstLevels();
window.addEventListener("hashchange", selectFromAddress);
selectFromAddress();
