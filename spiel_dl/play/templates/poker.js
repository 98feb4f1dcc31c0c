"use strict";
// View of a solved endgame of hold'em: the path of actions, the grid of hands, and single hands.
// Nodes are those of play/poker_view.py.

const GRID_RANKS = [..."AKQJT98765432"];
const SUIT_NAMES = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const SUIT_SIGNS = { c: "\u2663", d: "\u2666", h: "\u2665", s: "\u2660" };
const SEATS = ["OOP", "IP"];
const SEAT_WORDS = ["out of position, acts first", "in position, acts last"];
const FOLD_COLOUR = "#2f7fc1";
const CALL_COLOUR = "#178a5e";
const WAGER_COLOURS = ["#d9822b", "#c4501b", "#a3231f", "#7b1d50", "#4f2a86", "#8a6d1a", "#5c4033"];

function playingCard(name) {
  return make("span", { class: `playing-card ${name[1]}`, role: "img",
    "aria-label": `${name[0]} of ${SUIT_NAMES[name[1]]}` }, name[0] + SUIT_SIGNS[name[1]]);
}

function playingCards(names) {
  return make("span", { class: "cards-in-line" }, ...names.map(playingCard));
}

function cardsOf(text) {
  return text.match(/../g) ?? [];
}

function coloursOf(actions) {
  let wagers = 0;
  return actions.map((action) => (action.kind === "fold" ? FOLD_COLOUR
    : action.kind === "call" ? CALL_COLOUR : WAGER_COLOURS[wagers++ % WAGER_COLOURS.length]));
}

function chips(number) {
  return number === null || number === undefined ? "\u2013"
    : String(Number(number.toFixed(Math.abs(number) < 10 ? 2 : 1))).replace("-", "\u2212");
}

function coloured(element, colour) {
  element.style.setProperty("--colour", colour);
  return element;
}

// The grid of 13 x 13 hands. draw(cell, name) fills a cell; choose(name) is called on its selection.
function handGrid(grid, draw, choose, label) {
  const rows = GRID_RANKS.map((high, i) => make("div", { role: "row" }, ...GRID_RANKS.map((low, j) => {
    const name = i === j ? high + low : i < j ? `${high}${low}s` : `${low}${high}o`;
    const cell = make("div", { role: "gridcell", tabindex: i + j ? "-1" : "0", "data-cell": name },
      make("span", {}, name));
    draw(cell, name);
    return cell;
  })));
  const cells = rows.flatMap((row) => [...row.children]);
  const focused = cells.findIndex((cell) => cell.dataset.cell === grid.dataset.focus);
  if (focused > 0) [cells[0].tabIndex, cells[focused].tabIndex] = [-1, 0];
  const hadFocus = grid.contains(document.activeElement);
  grid.replaceChildren(...rows);
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-label", label);
  if (hadFocus) cells[Math.max(focused, 0)].focus();
  grid.onclick = (event) => {
    const cell = event.target.closest("[data-cell]");
    if (!cell) return;
    grid.dataset.focus = cell.dataset.cell;
    choose(cell.dataset.cell);
  };
  grid.onkeydown = (event) => {
    const index = cells.indexOf(event.target.closest("[data-cell]"));
    const steps = { ArrowUp: -13, ArrowDown: 13, ArrowLeft: -1, ArrowRight: 1 };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(cells[index].dataset.cell);
    } else if (event.key in steps) {
      event.preventDefault();
      const next = cells[index + steps[event.key]];
      if (!next) return;
      cells[index].tabIndex = -1;
      next.tabIndex = 0;
      grid.dataset.focus = next.dataset.cell;
      next.focus();
    }
  };
}

// A colour scale: 0 is dark orange, 0.5 grey, 1 dark blue.
function scaleColour(share) {
  const [low, middle, high] = [[168, 69, 12], [110, 116, 123], [17, 92, 160]];
  const x = Math.min(1, Math.max(0, share));
  const [from, to, part] = x < 0.5 ? [low, middle, 2 * x] : [middle, high, 2 * x - 1];
  return `rgb(${from.map((each, n) => Math.round(each + part * (to[n] - each))).join(" ")})`;
}

// The elements of a solution's view.
function solutionParts() {
  const named = (tag, id, rest = {}, ...content) => make(tag, { id, ...rest }, ...content);
  return [
    named("div", "where", { class: "facts" }, named("span", "board"), named("dl", "chips"),
      named("span", "quality", { class: "note" }), named("button", "begin-play", { type: "button" }, "Play a hand")),
    named("section", "play", { "aria-label": "A hand against the solution", hidden: "" }),
    named("div", "look", {},
      named("ol", "line", { class: "line", "aria-label": "What was done" }),
      make("div", { class: "looks" },
        make("section", { "aria-label": "Grid of hands" },
          make("div", { class: "choices-of-grid" },
            named("div", "seats", { class: "choose", role: "group", "aria-label": "whose hands" }),
            named("div", "modes", { class: "choose", role: "group", "aria-label": "what cells show" })),
          named("div", "grid", { class: "hands" })),
        named("section", "hands", { "aria-label": "Hands", "aria-live": "polite" }))),
  ];
}

// Shows a solution in the element "solution". look(path) promises a node; onMove(path) is called for each new node.
function pokerView(look, onMove = () => {}) {
  const at = (id) => document.getElementById(id);
  at("solution").replaceChildren(...solutionParts());
  let nodes = [];        // the nodes on the path, the current one last
  let seat = 0;          // the player whose hands are shown
  let mode = "strategy"; // what cells show
  let chosen = null;     // the cell whose hands are listed
  let lastRequest = 0;   // number of the last request: results of earlier ones are dropped

  async function go(path) {
    const request = ++lastRequest;
    const pathNodes = [];
    for (let length = 0; length <= path.length; length++) pathNodes.push(await look(path.slice(0, length)));
    if (request !== lastRequest) return;
    nodes = pathNodes;
    const { player } = nodes.at(-1);
    if (player >= 0) seat = player;
    onMove(path);
    draw();
  }

  function draw() {
    const node = nodes.at(-1);
    at("board").replaceChildren(playingCards(node.board));
    at("chips").replaceChildren(
      fact("pot", chips(node.pot)), fact("behind", chips(Math.min(...node.left)), "the smaller stack"));
    drawLine();
    drawGrid();
    drawHands();
  }

  function drawLine() {
    at("line").replaceChildren(...nodes.map((node, number) => {
      const isLast = number === nodes.length - 1;
      const taken = isLast ? null : nodes[number + 1].path.at(-1);
      const item = make("li", {}, make("header", {}, make("b", {}, node.player >= 0 ? SEATS[node.player]
        : node.player === -1 ? ["Turn", "River"][node.board.length - 3] : "End"),
      make("span", {}, `pot ${chips(node.pot)}`)));
      if (isLast) item.setAttribute("aria-current", "step");
      if (node.player === -1) item.append(deck(node, taken));
      else if (node.player < 0) item.append(make("div", {}, ending(node)));
      const colours = coloursOf(node.actions);
      node.actions.forEach((action, index) => {
        const pressed = action.action === taken;
        const words = action.percent ? `${action.name} (${Math.round(action.percent)}%)` : action.name;
        const button = make("button", { type: "button", "aria-pressed": String(pressed),
          "data-step": action.action, title: isLast ? `key ${index + 1}` : "" },
        words, make("small", {}, action.frequency === null ? "\u2013" : percent(action.frequency)));
        button.addEventListener("click", () => go([...node.path, action.action]));
        item.append(coloured(button, colours[index]));
      });
      return item;
    }));
    at("line").scrollLeft = at("line").scrollWidth;
  }

  function deck(node, taken) {
    const left = new Map(node.cards.map((each) => [each.name, each]));
    return make("div", { class: "deck" }, ...[..."shdc"].flatMap((suit) => GRID_RANKS.map((rank) => {
      const name = rank + suit;
      if (!left.has(name)) return make("span", {}, rank);
      const { card, values } = left.get(name);
      const known = values.every((value) => value !== null);
      const words = `${rank} of ${SUIT_NAMES[suit]}`
        + (known ? `, EV ${SEATS[0]} ${chips(values[0])}, ${SEATS[1]} ${chips(values[1])}` : "");
      const button = make("button", { type: "button", class: suit, "data-step": card, title: words,
        "aria-label": words, "aria-pressed": String(card === taken) }, rank,
      make("small", {}, known ? chips(values[0]) : ""));
      button.addEventListener("click", () => go([...node.path, card]));
      return button;
    })));
  }

  function ending(node) {
    if (node.folded < 0) return "Showdown";
    return `${SEATS[node.folded]} folds, ${SEATS[1 - node.folded]} wins`;
  }

  function drawGrid() {
    const node = nodes.at(-1);
    const side = node.sides[seat];
    const acts = side.strategy !== undefined;
    const modes = [...(acts ? [["strategy", "Strategy"]] : []), ["weight", "Range"], ["equity", "Equity"],
      ...(side.value === undefined ? [] : [["value", "EV"]])];
    const shown = modes.some(([name]) => name === mode) ? mode : modes[0][0];
    const choose = (id, pairs, now, take) => at(id).replaceChildren(...pairs.map(([value, words, title]) => {
      const button = make("button", { type: "button", "aria-pressed": String(value === now),
        "data-value": value, title: title ?? "" }, words);
      button.addEventListener("click", () => { take(value); drawGrid(); drawHands(); });
      return button;
    }));
    choose("seats", [0, 1].map((each) => [each,
      `${SEATS[each]} \u00b7 ${chips(node.sides[each].combos)} combos`, SEAT_WORDS[each]]), seat,
    (value) => { seat = value; });
    choose("modes", modes, shown, (value) => { mode = value; });
    const colours = coloursOf(node.actions);
    handGrid(at("grid"), (cell, name) => {
      const means = side.cells[name];
      const words = [name];
      if (means && means.combos > 0) {
        cell.classList.add("held");
        const fill = make("i");
        fill.style.height = `${100 * Math.min(1, means.combos / means.live)}%`;
        words.push(`${chips(means.combos)} combos`);
        if (shown === "strategy") {
          fill.style.background = stripes(means.strategy, colours);
          words.push(...node.actions.map((a, n) => `${a.name} ${percent(means.strategy[n] ?? 0)}`));
        } else if (shown === "weight") {
          fill.style.background = "var(--held)";
          cell.append(make("small", {}, `${Math.round((100 * means.combos) / means.live)}`));
        } else if (means[shown] !== null) {
          const number = means[shown];
          fill.style.height = "100%";
          fill.style.background = scaleColour(shown === "equity" ? number : number / node.pot);
          const text = shown === "equity" ? `${Math.round(100 * number)}` : chips(number);
          cell.append(make("small", {}, text));
          words.push(`${shown} ${text}`);
        }
        cell.prepend(fill);
      }
      cell.setAttribute("aria-selected", String(name === chosen));
      cell.setAttribute("aria-label", words.join(", "));
      cell.title = words.join(", ");
    }, (name) => {
      chosen = chosen === name || !side.cells[name] ? null : name;
      drawGrid();
      drawHands();
    }, `hands of ${SEATS[seat]}`);
  }

  function stripes(strategy, colours) {
    if (strategy[0] === null) return "var(--held)";
    let begin = 0;
    // Wagers first, the largest before smaller ones.
    const parts = strategy.map((share, n) => [share, colours[n]]).reverse().map(([share, colour]) => {
      const end = begin + 100 * share;
      const part = `${colour} ${begin}% ${end}%`;
      begin = end;
      return part;
    });
    return `linear-gradient(to right, ${parts.join(", ")})`;
  }

  function drawHands() {
    const node = nodes.at(-1);
    const side = node.sides[seat];
    const colours = coloursOf(node.actions);
    const hands = chosen && side.hands[chosen]?.filter((each) => each.reach > 0);
    at("hands").replaceChildren(...(hands?.length ? cellTable(node, side, hands, colours)
      : overview(node, side, colours)));
  }

  // All hands: the frequency of each action, and both players' means.
  function overview(node, side, colours) {
    const parts = [];
    if (side.strategy && side.strategy[0] !== null) {
      const bar = make("div", { class: "shares", "aria-hidden": "true" });
      side.strategy.map((share, n) => [share, colours[n]]).reverse().forEach(([share, colour]) => {
        const part = make("i");
        part.style.width = `${100 * share}%`;
        part.style.background = colour;
        bar.append(part);
      });
      parts.push(bar, table(`${SEATS[seat]}, all hands`, ["action", "frequency", "combos"],
        node.actions.map((action, n) => [
          coloured(make("span", {}, make("i", { class: "swatch" }), action.name), colours[n]),
          percent(side.strategy[n]), chips(side.strategy[n] * side.combos)])));
    } else if (side.strategy) {
      parts.push(make("p", { class: "note" }, "The solution never gets here: what it does here means nothing."));
    }
    parts.push(table("Both players", ["", "combos", "equity", ...(side.value === undefined ? [] : ["EV"])],
      node.sides.map((each, n) => [SEATS[n], chips(each.combos),
        each.equity === null ? "\u2013" : percent(each.equity),
        ...(each.value === undefined ? [] : [chips(each.value)])])));
    parts.push(make("p", { class: "keys" }, "Choose a cell to see its hands. EV is in chips from here on; "
      + "to fold is worth 0. Keys: 1\u20139 take an action, Backspace goes back."));
    return parts;
  }

  function cellTable(node, side, hands, colours) {
    const acts = hands[0].strategy !== undefined;
    const heads = ["hand", "weight", "equity", ...(hands[0].value === undefined ? [] : ["EV", "cfv"]),
      ...(acts ? node.actions.map((action) => action.name) : [])];
    const back = make("button", { type: "button" }, "All hands");
    back.addEventListener("click", () => { chosen = null; drawGrid(); drawHands(); });
    return [table(`${SEATS[seat]}, ${chosen}`, heads, hands.map((hand) => [
      playingCards(cardsOf(hand.cards)), percent(hand.reach),
      hand.equity === null ? "\u2013" : percent(hand.equity),
      ...(hand.value === undefined ? [] : [chips(hand.value), show(hand.cfv, true)]),
      ...(acts ? hand.strategy.map((share, n) => {
        const bar = make("span", { class: "share" }, make("i"));
        bar.firstChild.style.width = `${100 * share}%`;
        return coloured(make("span", {}, percent(share), bar, make("small", {}, chips(hand.values[n]))),
          colours[n]);
      }) : [])])),
    make("p", { class: "keys" }, acts ? "Below each frequency: the EV of always taking the action." : ""), back];
  }

  function table(caption, heads, rows) {
    const box = make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption });
    box.append(make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...heads.map((head, n) =>
        (head ? make("th", { scope: "col", class: n ? "number" : "" }, head) : make("td"))))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((entry, n) =>
        make("td", { class: n ? "number" : "" }, entry)))))));
    return box;
  }

  document.addEventListener("keydown", (event) => {
    if (!nodes.length || at("solution").hidden || !at("play").hidden || event.ctrlKey || event.metaKey
      || event.altKey || event.target.closest("input, textarea, select")) return;
    const node = nodes.at(-1);
    const action = /^[1-9]$/.test(event.key) && node.actions[Number(event.key) - 1];
    if (action) go([...node.path, action.action]);
    else if (event.key === "Backspace" && node.path.length) go(node.path.slice(0, -1));
    else return;
    event.preventDefault();
  });

  return { go, now: () => nodes.at(-1) };
}
