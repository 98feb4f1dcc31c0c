"use strict";
// The page of the server: games by clicks, analyses of policies, and public trees.
// The address determines the view: #game=KEY, #tree&..., or nothing for the choice of a game.

let game = null;      // the server's last view of the game
let shown = null;     // the view that is shown, perhaps of an earlier moment
let running = null;   // AbortController of the current task
let isStale = false;  // whether another tab has changed the game meanwhile
const otherTabs = new BroadcastChannel("spiel_dl");

// The current task ends with the page, and its search with it.
window.addEventListener("pagehide", () => running?.abort());

async function request(path, body, signal) {
  const options = { method: body === undefined ? "GET" : "POST", signal };
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
  const content = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return { error: "The server's answer is not JSON." };
  });
  if (response.ok) return content;
  throw Object.assign(new Error(content.error), { status: response.status });
}

// Runs one task at a time, and shows errors. A task is ignored while another one runs, unless it is
// another page: that aborts the running task.
async function runTask(words, work, isOtherPage = false) {
  if (running && !isOtherPage) return;
  running?.abort();
  const controller = new AbortController();
  running = controller;
  isStale = false;
  at("error").hidden = true;
  at("status").textContent = words;
  document.body.dataset.busy = "yes";
  let problem = null;
  try {
    await work((path, body) => request(path, body, controller.signal));
  } catch (error) {
    if (error.name !== "AbortError") problem = error;
  }
  if (running !== controller) return;
  running = null;
  document.body.dataset.busy = "no";
  at("status").textContent = "";
  if (problem?.status === 409 || (isStale && !problem)) await refresh();
  else if (problem) showError(problem);
}

function showError(problem) {
  const parts = [make("p", {}, sentence(problem.message))];
  if (game?.turn === "opponent" && document.body.dataset.page === "game") {
    const other = game.blueprint ?? "uniform";
    parts.push(make("p", { class: "choices" }, button("Try again", refresh, { id: "again" })));
    if (other !== game.opponent) {
      parts[1].append(button(`Go on against ${other}`, () => changeOpponent(other), { id: "other-one" }));
    }
  } else if (problem.status === 404) {
    parts.push(make("p", {}, make("a", { href: "#" }, "Begin another game.")));
  }
  at("error").replaceChildren(...parts);
  at("error").hidden = false;
}

function sentence(text) {
  return text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

// The game.

async function begin() {
  await runTask("The game is set up, and the opponent gets ready\u2026", async (ask) => {
    setGame(await ask("/api/games", { ...formFields(), seat: Number(at("seat").value) }));
    location.hash = `game=${game.key}`;
    showPage("game");
    draw();
    await advance(ask);
  });
}

async function advance(ask) {
  // Plays "wait" for the person if it is the only action.
  const waits = () => game.turn === "you" && game.actions.every((each) => each.name === "wait");
  while (game.turn === "opponent" || waits()) {
    if (waits()) {
      await change(ask, "move", { action: game.actions[0].id, count: game.count });
    } else {
      at("status").textContent = `${game.opponent} is thinking\u2026`;
      await change(ask, "answer", {});
    }
  }
  analyse();
}

function setGame(view) {
  game = view;
  shown = view;
  at("to-game").href = `#game=${game.key}`;
}

// Changes the game on the server, and notifies other tabs that show it.
async function change(ask, endpoint, body) {
  setGame(await ask(`/api/games/${game.key}/${endpoint}`, body));
  otherTabs.postMessage(game.key);
  draw();
}

async function refresh() {
  await runTask("", async (ask) => {
    setGame(await ask(`/api/games/${game.key}`));
    draw();
    await advance(ask);
  });
}

async function play(action) {
  await runTask("", async (ask) => {
    await change(ask, "move", { action, count: game.count });
    await advance(ask);
  });
}

async function lookAt(moment) {
  await runTask("", async (ask) => {
    shown = await ask(`/api/games/${game.key}?at=${moment}`);
    draw();
    analyse();
  });
}

async function takeBack() {
  await runTask("", async (ask) => {
    await change(ask, "back", { at: shown.at });
    await advance(ask);
  });
}

async function reveal() {
  await runTask("", async (ask) => {
    const moment = shown.at;
    await change(ask, "reveal", {});
    if (moment !== game.at) shown = await ask(`/api/games/${game.key}?at=${moment}`);
    draw();
    analyse();
  });
}

async function changeOpponent(policy) {
  await runTask("The other opponent gets ready\u2026", async (ask) => {
    await change(ask, "opponent", { policy });
    await advance(ask);
  });
}

function draw() {
  const hadFocus = at("board").contains(document.activeElement);
  at("facts").replaceChildren(fact("against", game.opponent), fact("you are", `player ${game.seat}`));
  const isNow = shown.at === game.at;
  const parts = [make("h2", { class: "result", tabindex: "-1" }, headline(isNow))];
  if (shown.why) parts.push(make("p", {}, shown.why));
  parts.push(shown.picture.length ? blocks(shown.picture) : make("pre", {}, shown.text));
  const drawn = new Set(actionsOf(shown.picture));
  const rest = shown.actions.filter((action) => !drawn.has(action.id));
  if (rest.length) {
    parts.push(make("div", { class: "choices" }, ...rest.map((action) => button(
      action.name, () => play(action.id), { "data-action": action.id }))));
  }
  parts.push(make("div", { class: "choices", id: "which" }), steps(isNow));
  if (shown.all) {
    const isDrawn = shown.all.picture.length > 0;
    parts.push(make("h2", {}, "What was hidden"), make("p", { class: "note" }, isDrawn
      ? "The game from your opponent's seat; \u201cyou\u201d is the opponent here." : "The whole state."));
    parts.push(isDrawn ? blocks(shown.all.picture) : make("pre", {}, shown.all.text));
  }
  parts.push(make("details", { class: "about" }, make("summary", {}, "About this game"),
    make("p", {}, game.summary), make("p", {}, make("code", {}, game.game))));
  at("board").replaceChildren(...parts);
  if (hadFocus) (at("board").querySelector("[data-action]") ?? parts[0]).focus();
}

function headline(isNow) {
  if (shown.result) {
    const [you, other] = shown.result;
    const word = you > other ? "You win" : you < other ? "You lose" : "A draw";
    return `${word}: ${show(you, true)} for you, ${show(other, true)} for the opponent.`;
  }
  if (isNow) return game.turn === "you" ? "It is your turn." : "The opponent is to move.";
  return shown.turn === "you" ? "You were to move here." : "The opponent was to move here.";
}

function button(text, onClick, attributes = {}) {
  const element = make("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", onClick);
  return element;
}

function steps(isNow) {
  const step = (sign, moment, label) => {
    const element = button("", () => lookAt(moment), { title: label });
    element.append(make("span", { "aria-hidden": "true" }, sign), hiddenText(label));
    element.disabled = moment < 0 || moment >= game.count || moment === shown.at;
    return element;
  };
  const parts = [
    step("\u00ab", 0, "to the beginning"), step("\u2039", shown.at - 1, "one step back"),
    make("output", {}, `moment ${shown.at + 1} of ${game.count}`),
    step("\u203a", shown.at + 1, "one step on"), step("\u00bb", game.count - 1, "to now"),
  ];
  if (!isNow) parts.push(button("Play on from here", takeBack, { id: "back" }));
  if (!game.revealed && game.has_secrets) parts.push(button("Reveal what is hidden", reveal, { id: "reveal" }));
  if (at("insight").hidden) {
    parts.push(button("What does it think?", () => showInsight(), { id: "thoughts" }));
  }
  return make("div", { class: "steps" }, ...parts);
}

// Text for screen readers only.
function hiddenText(text) {
  return make("span", { class: "unseen" }, ` ${text}`);
}

// Pictures.

function actionsOf(picture) {
  const pieces = picture.flatMap((block) => block.cards ?? block.cells?.flat() ?? []);
  return pieces.flatMap((piece) => piece.actions);
}

function blocks(picture) {
  const drawn = picture.filter((block) => block.block !== "cards" || block.cards.length);
  return make("div", { class: "blocks" }, ...drawn.map((block) => {
    const parts = block.title ? [make("h3", {}, block.title)] : [];
    if (block.block === "cards") {
      parts.push(make("div", { class: "cards" },
        ...block.cards.map((card) => piece(card, "card", block.title))));
    } else if (block.block === "grid") {
      parts.push(make("div", { class: `grid ${block.shape ?? ""}` }, ...block.cells.map((row, y) =>
        rowOfGrid(block.shape ? y : 0,
          row.map((cell, x) => piece(cell, "cell", `row ${y}, column ${x}`))))));
      if (block.note) parts.push(make("p", { class: "note" }, block.note));
    } else if (block.block === "table") {
      parts.push(make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": block.title },
        make("table", {}, ...block.rows.map(([name, ...cells]) =>
        make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, cell)))))));
    } else {
      parts.push(make("dl", {}, ...block.facts.map(([name, value]) => fact(name, value))));
    }
    return make("div", { class: `block of-${block.block}` }, ...parts);
  }));
}

function rowOfGrid(halves, cells) {
  const row = make("div", {}, ...cells);
  row.style.marginLeft = `calc(${halves / 2} * var(--cell))`;
  return row;
}

function piece(card, kind, where) {
  const content = [make("span", {}, card.text)];
  if (card.note) content.push(make("small", {}, card.note));
  const look = { class: `${kind} ${card.mark}`.trim() };
  if (!card.actions.length) {
    // The colour of the cell, as text.
    if (kind === "cell" && card.mark) content.push(hiddenText(card.mark));
    return make("div", look, ...content);
  }
  const name = card.actions.length === 1 ? nameOf(card.actions[0]) : where;
  const element = make("button",
    { ...look, type: "button", title: name, "data-action": card.actions[0] }, ...content, hiddenText(name));
  element.addEventListener("click", () => choose(card.actions));
  return element;
}

function nameOf(action) {
  return shown.actions.find((each) => each.id === action)?.name ?? String(action);
}

// Plays the action of a click; several possible actions are offered as buttons.
function choose(actions) {
  if (running) return;
  if (actions.length === 1) {
    play(actions[0]);
    return;
  }
  at("which").replaceChildren(...actions.map((action) =>
    button(nameOf(action), () => play(action), { "data-action": action })));
  at("which").firstChild.focus();
}

// Analyses of a policy, which run independently of the game.

let nextAnalysis = null;       // the requested analysis; null: none
let isAnalysing = false;

function showInsight(policy = null, compared = null) {
  at("insight").hidden = false;
  at("thoughts")?.remove();
  analyse(policy, compared);
}

// The moment to analyse: an earlier one that is shown or, at the last one, the opponent's last move.
function momentToAnalyse() {
  if (shown.at !== game.at) return shown.at;
  const last = shown.turns.lastIndexOf("opponent");
  return last >= 0 ? last : shown.turn === "over" ? null : shown.at;
}

async function analyse(policy = null, compared = null) {
  if (at("insight").hidden) return;
  nextAnalysis = { key: game.key, at: momentToAnalyse(), policy, compared };
  if (isAnalysing) return;  // The running loop takes the last request next.
  isAnalysing = true;
  document.body.dataset.looking = "yes";
  try {
    while (nextAnalysis) {
      const analysis = nextAnalysis;
      nextAnalysis = null;
      await runAnalysis(analysis);
    }
  } finally {
    isAnalysing = false;
    document.body.dataset.looking = "no";
  }
}

async function runAnalysis({ key, at: moment, policy, compared }) {
  if (moment === null) {
    drawInsight([make("h2", {}, "What it thinks"), make("p", { class: "note" },
      "The opponent had nothing to decide in this game.")]);
    return;
  }
  const body = policy ? { ...formFields(), policy, at: moment } : { at: moment };
  delete body.game;
  if (compared) body.compared = compared;
  at("insight").classList.add("old");
  let parts;
  try {
    const analysis = await request(`/api/games/${key}/analysis`, body);
    parts = partsOfInsight(analysis, moment, compared);
  } catch (error) {
    parts = [make("h2", {}, "What it thinks"), make("p", { class: "error" }, sentence(error.message)),
      choiceOfPolicies(policy ?? game.opponent, compared)];
  }
  if (!nextAnalysis && game?.key === key) drawInsight(parts);
}

function drawInsight(parts) {
  at("insight").classList.remove("old");
  at("insight").replaceChildren(...parts, button("Hide", () => {
    at("insight").hidden = true;
    draw();
  }, { id: "hide" }));
}

function choiceOfPolicies(name, compared) {
  const policy = make("input", { id: "other" });
  policy.value = name;
  const beside = make("input", { id: "compared", placeholder: "its blueprint" });
  beside.value = compared ?? "";
  return make("details", { class: "look" }, make("summary", {}, "Look at another policy"),
    make("label", {}, "Policy", policy), make("label", {}, "Compared with", beside),
    button("Look at it", () => analyse(policy.value, beside.value), { id: "look" }));
}

function partsOfInsight(analysis, moment, compared) {
  const { player: actor, policy, state, num_left_out: leftOut } = analysis;
  const whose = actor === game.seat ? "would do in your place" : "thought as the opponent";
  const parts = [
    make("h2", {}, `What ${policy} ${whose}, at moment ${moment + 1}`),
    make("p", { class: "note" }, analysis.how
      + (analysis.compared ? ` Thin bars: ${analysis.compared}.` : "")
      + (leftOut ? ` Only the likeliest infosets are shown; ${leftOut} more histories are not.` : "")),
    choiceOfPolicies(policy, compared),
  ];
  if (state) {
    if (state.observation.length) {
      parts.push(make("ul", { class: "seen", "aria-label": "What everybody knows" },
        ...state.observation.map((part) => make("li", {}, part))));
    }
    const largest = Math.max(...game.utility.map(Math.abs));
    for (const player of [actor, 1 - actor]) {
      parts.push(...playerTable(state, player, largest));
    }
    parts.push(columnHelp());
  }
  return parts;
}

// The public tree, whose game, policy and options are in the address.

let openTree = null;     // the address without the public state, and the tree

function explore() {
  const { game: name, policy, options } = formFields();
  location.hash = `tree&${new URLSearchParams({ game: name, policy, ...options })}`;
}

async function openTreeOf(address, words) {
  const state = Number(/&state-(\d+)$/.exec(words)?.[1] ?? 0);
  if (openTree?.address === address) {
    showPage("tree");
    await runTask("", () => openTree.tree.select(state), true);
    return;
  }
  const { game: name, policy, ...options } = Object.fromEntries(new URLSearchParams(address.slice(5)));
  fillForm({ game: name, policy, options });
  showPage("tree");
  at("tree").replaceChildren();
  at("detail").replaceChildren();
  await runTask("The game is compiled and the policy made\u2026", async (ask) => {
    const loaded = new Map();
    const load = async (number) => {
      if (!loaded.has(number)) {
        const body = { game: name, policy, options, number };
        loaded.set(number, await request("/api/branch", body));
        if (openTree?.address !== address) throw new DOMException("another tree", "AbortError");
      }
      const branch = loaded.get(number);
      return { ...branch, largestUtility: branch.largest_utility, unit: "steps" };
    };
    const first = await ask("/api/branch", { game: name, policy, options, number: 0 });
    loaded.set(0, first);
    at("facts").replaceChildren(fact("game", first.game), fact("policy", first.policy),
      fact("value", show(first.value, true)),
      fact("public states", first.num_public_states.toLocaleString("en")));
    const tree = publicTree(at("tree"), at("detail"), load, (number) => `#${address}&state-${number}`);
    openTree = { address, tree };
    await tree.start(0, false);
    await tree.select(state);
  }, true);
}

// The page.

function showPage(name) {
  const isSame = document.body.dataset.page === name;
  document.body.dataset.page = name;
  at("setup").hidden = !name.startsWith("setup");
  at("board").hidden = name !== "game";
  if (name !== "game") at("insight").hidden = true;
  at("detail").hidden = name !== "tree";
  at("to-game").hidden = !game || name === "game";
  at("error").hidden = true;
  const isTree = name.includes("tree");
  for (const [id, isHere] of [["to-setup", name === "setup"], ["to-tree", isTree]]) {
    if (isHere) at(id).setAttribute("aria-current", "page");
    else at(id).removeAttribute("aria-current");
  }
  at("seat-label").hidden = isTree;
  at("policy-label").textContent = isTree ? "Choose a policy" : "Choose an opponent";
  at("begin").textContent = isTree ? "Open its public tree" : "Play";
  if (name.startsWith("setup")) at("facts").replaceChildren();
  if (!isSame) window.scrollTo(0, 0);
}

async function go() {
  const words = location.hash;
  const key = /^#game=([\w-]+)$/.exec(words)?.[1];
  if (key) {
    if (game?.key === key) {
      showPage("game");
      draw();
      if (!running) await refresh();
      return;
    }
    await runTask("The game is looked up\u2026", async (ask) => {
      game = null;
      setGame(await ask(`/api/games/${key}`));
      fillForm(game.asked);
      showPage("game");
      draw();
      await advance(ask);
    }, true);
  } else if (words.startsWith("#tree&")) {
    await openTreeOf(words.slice(1).replace(/&state-\d+$/, ""), words);
  } else {
    showPage(words === "#tree" ? "setup-tree" : "setup");
    if (running) await runTask("", async () => {}, true);  // Aborts the current task.
  }
}

at("setup").addEventListener("submit", (event) => {
  event.preventDefault();
  if (document.body.dataset.page === "setup-tree") explore();
  else begin();
});
otherTabs.onmessage = ({ data }) => {
  if (game?.key !== data || document.body.dataset.page !== "game") return;
  if (running) isStale = true;
  else refresh();
};
runTask("", async (ask) => showMenu(await ask("/api/menu"))).then(async () => {
  window.addEventListener("hashchange", go);
  if (menu) await go();
});
