"use strict";
// Tables of infosets, for pages of public trees and for the page of the server.
// Texts are inserted as text nodes and attributes only, so they are never interpreted as markup.

// Colours of actions that people with any colour vision can distinguish (Okabe and Ito).
const COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#8aa4ff", "#d55e00"];
// Smaller numbers are rounding errors of 0.
const ROUNDING = 1e-12;
const BY_NUMBER = new Intl.Collator("en", { numeric: true });
function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

function show(number, signed = false) {
  if (number === null) return "\u2013";
  const size = Math.abs(number);
  if (size < ROUNDING) return "0";
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

function fact(name, value, title) {
  return make("div", title ? { title } : {}, make("dt", {}, name), make("dd", {}, value));
}

// Explains the columns of `playerTable`.
function columnHelp() {
  return make("details", { class: "help" }, make("summary", {}, "What the columns mean"),
    make("dl", {},
      fact("range", "the player's own reach probability of the infoset"),
      fact("opponent's reach", "reach of chance and the opponent, summed over its histories"),
      fact("cfv", "counterfactual value, unnormalised, in the player's utility"),
      fact("cfv / reach", "cfv divided by the opponent's reach: the expected utility there"),
      fact("strategy", "how likely each action is; the numbers below are the expected utility of "
        + "always taking an action there")));
}

// The colour of an action, for any number of actions.
function colourOf(index, count) {
  return count <= COLOURS.length ? COLOURS[index]
    : `hsl(${Math.round((360 * index) / count)} 70% ${index % 2 ? 76 : 58}%)`;
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
  const strength = largest > ROUNDING ? Math.min(1, Math.abs(number) / largest) : 0;
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
    const part = make("i", { title }, action.probability > 0.12 ? percent(action.probability) : "");
    part.style.width = `${100 * action.probability}%`;
    part.style.backgroundColor = colours.get(action.name);
    stack.append(part);
  }
  const cell = make("td", { class: "strategy" }, stack);
  if (typeof infoset.difference === "number") cell.append(comparedBar(infoset, colours));
  if (infoset.actions.some((action) => action.value !== null)) {
    cell.append(make("div",
      { class: "utilities", title: "expected utility of always taking an action here" },
      infoset.actions.map((action) => `${action.name} ${show(action.value, true)}`)
        .join(" \u00b7 ")));
  }
  return cell;
}

// Another policy's strategy, as a thinner bar, and the distance of both strategies.
function comparedBar(infoset, colours) {
  const stack = make("div", { class: "stack thin", role: "img", "aria-label": infoset.actions
    .map((action) => `${action.name} ${percent(action.compared)}`).join(", ") });
  for (const action of infoset.actions) {
    const part = make("i", { title: `compared: ${action.name} ${percent(action.compared)}` });
    part.style.width = `${100 * action.compared}%`;
    part.style.backgroundColor = colours.get(action.name);
    stack.append(part);
  }
  const distance = make("span", { class: "apart", title: "half of the sum of absolute differences" },
    `differs by ${percent(infoset.difference)}`);
  return make("div", { class: "beside" }, stack, distance);
}

function key(colours) {
  return make("ul", { class: "key" }, ...[...colours].map(([name, colour]) => {
    const swatch = make("span", { class: "swatch" });
    swatch.style.backgroundColor = colour;
    return make("li", {}, swatch, name);
  }));
}

function playerTable(state, player, largestUtility) {
  const infosets = [...state.infosets[player]].sort((a, b) => BY_NUMBER.compare(a.own, b.own));
  const acts = infosets.some((infoset) => infoset.actions.length);
  const actions = infosets.flatMap((infoset) => infoset.actions).sort((a, b) => a.id - b.id);
  const names = [...new Set(actions.map((action) => action.name))];
  const colours = new Map(names.map((name, index) => [name, colourOf(index, names.length)]));
  const largest = Math.max(...infosets.map((infoset) => Math.abs(infoset.cfv)));
  const head = make("tr", {},
    make("th", { scope: "col", class: "name" }, "infoset"),
    make("th", { scope: "col", class: "range" }, "range"),
    ...["opponent's reach", "cfv", "cfv / reach"].map((name) =>
      make("th", { scope: "col", class: "number" }, name)));
  if (acts) {
    head.append(make("th", { scope: "col", class: "strategy" }, "strategy, utilities of actions"));
  }
  const body = make("tbody");
  for (const infoset of infosets) {
    const row = make("tr", infoset.is_actual ? { class: "actual" } : {},
      make("td", { class: "name", title: infoset.string },
        infoset.own || "all it knows is public"),
      rangeCell(infoset),
      make("td", { class: "number", title: infoset.opponent_reach }, show(infoset.opponent_reach)),
      valueCell(infoset.cfv, largest),
      valueCell(infoset.value, largestUtility));
    if (infoset.actions.length) row.append(strategyCell(infoset, colours));
    body.append(row);
  }
  const count = `${infosets.length} infoset${infosets.length === 1 ? "" : "s"}`;
  const mass = `total range ${show(state.range_mass[player])}`;
  return [
    make("h3", {}, `Player ${player}${acts ? ", to act" : ""}`, " ",
      make("span", { class: "note" }, `\u2013 ${count}, ${mass}`)),
    ...(acts ? [key(colours)] : []),
    make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `infosets of player ${player}` },
      make("table", { class: acts ? "acts" : "waits" }, make("thead", {}, head), body)),
  ];
}
