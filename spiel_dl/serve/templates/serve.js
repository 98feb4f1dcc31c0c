"use strict";
// The page of the server: games by clicks, what the opponent thought, and public trees.

const at = (id) => document.getElementById(id);
let menu = null;
let mode = "play";
let game = null;      // what the server said of the game last
let shown = null;     // the moment that is looked at, perhaps an earlier one
let asking = new AbortController();

// What goes on ends with the page, and the search with it.
window.addEventListener("pagehide", () => asking.abort());

async function ask(path, body, method = body === undefined ? "GET" : "POST") {
  const options = { method, signal: asking.signal };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is it still running?");
  }
  const found = await response.json().catch(() => ({ error: "The server's answer is not JSON." }));
  if (!response.ok) throw new Error(found.error);
  return found;
}

// Does one thing at a time, and says what went wrong.
async function during(words, work) {
  asking.abort();
  asking = new AbortController();
  const mine = asking;
  at("error").hidden = true;
  at("status").textContent = words;
  document.body.dataset.busy = "yes";
  try {
    await work();
  } catch (error) {
    if (error.name !== "AbortError") {
      at("error").textContent = error.message;
      at("error").hidden = false;
    }
  } finally {
    if (asking === mine) {
      document.body.dataset.busy = "no";
      at("status").textContent = "";
    }
  }
}

function asked() {
  const typed = [...at("options").querySelectorAll("input")].filter((input) => input.value.trim());
  const options = Object.fromEntries(typed.map((input) => [input.name, input.value]));
  return { game: at("game").value, policy: at("policy").value, options };
}

// The game.

async function begin() {
  await during("The game is set up, and the opponent gets ready\u2026", async () => {
    take(await ask("/api/games", { ...asked(), seat: Number(at("seat").value) }));
    location.hash = `game=${game.key}`;
    await goOn();
  });
}

async function goOn() {
  while (game.turn === "opponent") {
    at("status").textContent = `${game.opponent} is thinking\u2026`;
    take(await ask(`/api/games/${game.key}/answer`, {}));
  }
  at("status").textContent = "";
  await think();
}

function take(found) {
  game = found;
  shown = found;
  draw();
}

async function play(action) {
  await during("", async () => {
    take(await ask(`/api/games/${game.key}/move`, { action, count: game.count }));
    await goOn();
  });
}

async function lookAt(moment) {
  await during("", async () => {
    shown = await ask(`/api/games/${game.key}?at=${moment}`);
    draw();
    await think();
  });
}

async function takeBack() {
  await during("", async () => {
    take(await ask(`/api/games/${game.key}/back`, { at: shown.at }));
    await goOn();
  });
}

async function reveal() {
  await during("", async () => {
    const moment = shown.at;
    take(await ask(`/api/games/${game.key}/reveal`, {}));
    if (moment !== game.at) shown = await ask(`/api/games/${game.key}?at=${moment}`);
    draw();
    await think();
  });
}

function draw() {
  at("facts").replaceChildren(
    fact("game", game.game), fact("against", game.opponent), fact("you are", `player ${game.seat}`));
  const isNow = shown.at === game.at;
  const parts = [];
  if (shown.result) parts.push(make("p", { class: "result" }, verdict(shown.result)));
  else if (isNow) {
    const turn = game.turn === "you" ? "It is your turn." : "The opponent is to move.";
    parts.push(make("p", { class: "result" }, turn));
  } else {
    const turn = shown.turn === "you" ? "You were to move here." : "The opponent was to move here.";
    parts.push(make("p", { class: "result" }, turn));
  }
  if (shown.picture.length) parts.push(blocks(shown.picture));
  else parts.push(make("pre", {}, shown.text));
  const drawn = new Set(actionsOf(shown.picture));
  const rest = shown.actions.filter((action) => !drawn.has(action.id));
  if (rest.length) {
    parts.push(make("div", { class: "choices" }, ...rest.map((action) => button(
      action.name, () => play(action.id), { "data-action": action.id }))));
  }
  parts.push(make("div", { class: "choices", id: "which" }), steps(isNow));
  if (shown.all) {
    parts.push(make("h3", {}, "What was hidden: the game as your opponent saw it"));
    parts.push(shown.all.picture.length ? blocks(shown.all.picture) : "",
      make("pre", {}, shown.all.text));
  }
  at("board").replaceChildren(...parts);
  at("board").hidden = false;
}

function verdict(result) {
  const [you, other] = result;
  const word = you > other ? "You win" : you < other ? "You lose" : "A draw";
  return `${word}: ${show(you, true)} for you, ${show(other, true)} for the opponent.`;
}

function button(text, onClick, attributes = {}) {
  const found = make("button", { type: "button", ...attributes }, text);
  found.addEventListener("click", onClick);
  return found;
}

function steps(isNow) {
  const step = (text, moment, label) => {
    const found = button(text, () => lookAt(moment), { "aria-label": label, title: label });
    found.disabled = moment < 0 || moment >= game.count || moment === shown.at;
    return found;
  };
  const parts = [
    step("\u00ab", 0, "to the beginning"), step("\u2039", shown.at - 1, "one step back"),
    make("output", {}, `moment ${shown.at + 1} of ${game.count}`),
    step("\u203a", shown.at + 1, "one step on"), step("\u00bb", game.count - 1, "to now"),
  ];
  if (!isNow) parts.push(button("Play on from here", takeBack, { id: "back" }));
  if (!game.revealed) parts.push(button("Reveal", reveal, { id: "reveal" }));
  return make("div", { class: "steps" }, ...parts);
}

// Pictures.

function actionsOf(picture) {
  const pieces = picture.flatMap((block) => block.cards ?? block.cells?.flat() ?? []);
  return pieces.flatMap((piece) => piece.actions);
}

function blocks(picture) {
  const shown = picture.filter((block) => block.block !== "cards" || block.cards.length);
  return make("div", { class: "blocks" }, ...shown.map((block) => {
    const parts = block.title ? [make("h3", {}, block.title)] : [];
    if (block.block === "cards") {
      parts.push(make("div", { class: "cards" },
        ...block.cards.map((card) => piece(card, "card", block.title))));
    } else if (block.block === "grid") {
      parts.push(make("div", { class: "grid" }, ...block.cells.map((row, y) =>
        make("div", {}, ...row.map((cell, x) => piece(cell, "cell", `row ${y}, column ${x}`))))));
    } else if (block.block === "table") {
      parts.push(make("table", {}, ...block.rows.map(([name, ...cells]) => make("tr", {},
        make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, cell))))));
    } else {
      parts.push(make("dl", {}, ...block.facts.map(([name, value]) => fact(name, value))));
    }
    return make("div", { class: `block of-${block.block}` }, ...parts);
  }));
}

function piece(card, kind, where) {
  const content = [make("span", {}, card.text)];
  if (card.note) content.push(make("small", {}, card.note));
  const look = { class: `${kind} ${card.mark}`.trim() };
  if (!card.actions.length) return make("div", { ...look, title: card.mark }, ...content);
  const name = card.actions.length === 1 ? nameOf(card.actions[0]) : where;
  const found = make("button",
    { ...look, type: "button", "aria-label": name, title: name, "data-action": card.actions[0] },
    ...content);
  found.addEventListener("click", () => choose(card.actions));
  return found;
}

function nameOf(action) {
  return shown.actions.find((each) => each.id === action)?.name ?? String(action);
}

// A click that may mean several actions asks which.
function choose(actions) {
  if (actions.length === 1) {
    play(actions[0]);
    return;
  }
  at("which").replaceChildren(...actions.map((action) =>
    button(nameOf(action), () => play(action), { "data-action": action })));
  at("which").firstChild.focus();
}

// What a policy thinks.

// The moment to think about: what is looked at or, as the game goes on, the opponent's last move.
function thoughtAbout() {
  if (shown.at !== game.at) return shown.at;
  const last = shown.turns.lastIndexOf("opponent");
  return last >= 0 ? last : shown.turn === "over" ? null : shown.at;
}

async function think(policy = null, compared = null) {
  const moment = thoughtAbout();
  if (moment === null) {
    at("insight").hidden = true;
    return;
  }
  const body = { at: moment };
  if (policy) Object.assign(body, asked(), { policy });
  delete body.game;
  if (compared) body.compared = compared;
  at("status").textContent = "The position is looked at\u2026";
  const found = await ask(`/api/games/${game.key}/analysis`, body);
  at("status").textContent = "";
  drawInsight(found, moment, compared);
}

function drawInsight(found, moment, compared) {
  const whose = found.player === game.seat ? "would do in your place" : "thought as the opponent";
  const parts = [
    make("h2", {}, `What ${found.policy} ${whose}, at moment ${moment + 1}`),
    make("p", { class: "note" }, `Numbers are ${found.how}.`
      + (found.compared ? ` Thin bars: ${found.compared}.` : "")
      + (found.num_left_out ? ` The likeliest infosets; ${found.num_left_out} histories more.` : "")),
  ];
  const policy = make("input", { id: "other", list: "policies", "aria-label": "policy" });
  policy.value = found.policy;
  const beside = make("input",
    { id: "compared", list: "policies", placeholder: "its blueprint", "aria-label": "compare with" });
  beside.value = compared ?? "";
  parts.push(make("div", { class: "look" },
    make("label", {}, "Policy", policy), make("label", {}, "Compared with", beside),
    button("Look at it", () => during("", () => think(policy.value, beside.value)), { id: "look" })));
  if (found.state) {
    if (found.state.observation.length) {
      parts.push(make("ul", { class: "seen", "aria-label": "What everybody knows" },
        ...found.state.observation.map((part) => make("li", {}, part))));
    }
    const largest = Math.max(...game.utility.map(Math.abs));
    for (const player of [found.player, 1 - found.player]) {
      parts.push(...playerTable(found.state, player, largest));
    }
  }
  at("insight").replaceChildren(...parts);
  at("insight").hidden = false;
}

// The public tree.

let openTree = null;

async function explore() {
  await during("The game is compiled and the policy made\u2026", async () => {
    const wanted = asked();
    const loaded = new Map();
    const load = async (number) => {
      if (!loaded.has(number)) loaded.set(number, await ask("/api/branch", { ...wanted, number }));
      const found = loaded.get(number);
      return { ...found, largestUtility: found.largest_utility, unit: "steps" };
    };
    const first = await load(0);
    at("facts").replaceChildren(fact("game", first.game), fact("policy", first.policy),
      fact("value", show(first.value, true)),
      fact("public states", first.num_public_states.toLocaleString("en")));
    at("tree").hidden = false;
    at("detail").hidden = false;
    openTree = publicTree(at("tree"), at("detail"), load);
    await openTree.start(0, false);
    await openTree.select(0);
  });
}

// The page.

function setMode(wanted) {
  mode = wanted;
  // What goes on ends; what the other tab asks for next does not.
  asking.abort();
  asking = new AbortController();
  document.body.dataset.busy = "no";
  at("status").textContent = "";
  const isTree = mode === "tree";
  at("tab-play").setAttribute("aria-selected", String(!isTree));
  at("tab-tree").setAttribute("aria-selected", String(isTree));
  at("seat-label").hidden = isTree;
  at("policy-label").textContent = isTree ? "Policy" : "Opponent";
  at("begin").textContent = isTree ? "Open" : "New game";
  at("error").hidden = true;
  at("facts").replaceChildren();
  for (const id of ["board", "insight"]) at(id).hidden = isTree || !game;
  for (const id of ["tree", "detail"]) at(id).hidden = !isTree || !openTree;
  if (!isTree && game) draw();
}

function offerPolicies() {
  const chosen = menu.games.find((each) => each.name === at("game").value);
  const models = menu.models.filter((model) => chosen && sameGame(model.game, chosen.game));
  at("policies").replaceChildren(...[...models.map((model) => model.name), ...menu.policies]
    .map((name) => make("option", { value: name })));
  if (models.length) at("policy").value = models[0].name;
  else if (!menu.policies.includes(at("policy").value)) at("policy").value = menu.policies[1];
}

// A model's game string has all parameters, a preset's those that are not the defaults.
function sameGame(complete, short) {
  const [name, parameters = ""] = short.replace(/\)$/, "").split("(");
  return complete.split("(")[0] === name
    && parameters.split(",").every((each) => complete.includes(each));
}

async function start() {
  menu = await ask("/api/menu");
  at("games").replaceChildren(...menu.games.map((each) => make("option", { value: each.name })));
  at("options").replaceChildren(...menu.options.map((each) => make("label", { title: each.text },
    each.name.replaceAll("_", " "), make("input", { name: each.name, id: `option-${each.name}`,
      placeholder: each.default || "default", "aria-description": each.text }))));
  at("game").value = menu.games[0].name;
  at("hint").textContent = "Any two-player OpenSpiel game will do, by its game string. Policies: "
    + `${menu.kinds.map((kind) => kind.pattern).join(", ")}. A search may take ${menu.seconds} s.`;
  offerPolicies();
  const kept = /^#game=([\w-]+)$/.exec(location.hash);
  if (kept) {
    take(await ask(`/api/games/${kept[1]}`));
    await goOn();
  }
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (mode === "tree") explore();
  else begin();
});
at("game").addEventListener("change", offerPolicies);
at("tab-play").addEventListener("click", () => setMode("play"));
at("tab-tree").addEventListener("click", () => setMode("tree"));
window.addEventListener("hashchange", () => {
  const number = stateInAddress();
  if (mode === "tree" && openTree && number !== null) during("", () => openTree.select(number));
});
during("", start);
