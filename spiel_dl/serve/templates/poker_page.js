"use strict";
// The page of poker: a spot is entered, solved and viewed. The address holds the spot and the node:
// #board=...&pot=...&path=1.2

const field = (id) => document.getElementById(id);
const FIELDS = { board: "board-text", pot: "pot", stack: "stack", range_0: "range-0",
  range_1: "range-1", bets: "bets", target: "target" };
let solved = null;    // the spot whose solution is shown, and its loaded nodes
let running = null;   // AbortController of the current solving
let checking = null;  // AbortController of the last check, with the timer of the next one
const view = pokerView(look, (path) => setAddress(path));
const play = pokerPlay(look);

async function request(endpoint, body, signal) {
  let response;
  try {
    response = await fetch(`/api/poker/${endpoint}`, { method: "POST", signal,
      headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is it still running?");
  }
  const content = await response.json();
  if (response.ok) return content;
  throw Object.assign(new Error(content.error), { status: response.status });
}

function spot() {
  const fields = {};
  for (const name of ["board", "range_0", "range_1", "bets"]) fields[name] = field(FIELDS[name]).value;
  for (const name of ["pot", "stack"]) {
    const text = field(FIELDS[name]).value.trim();
    fields[name] = text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  }
  return fields;
}

function showError(error) {
  const text = error.message;
  field("error").replaceChildren(make("p", {}, text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".")));
  field("error").hidden = false;
}

// Checks the spot, and shows its ranges as grids, or the error.
async function check() {
  clearTimeout(checking?.due);
  checking?.abort();
  const controller = new AbortController();
  checking = controller;
  try {
    const { ranges, infosets, gigabytes } = await request("check", spot(), controller.signal);
    ranges.forEach((range, player) => drawRange(player, range));
    field("estimate").textContent = `${infosets.toLocaleString("en")} infosets, about ${
      gigabytes < 0.1 ? `${Math.ceil(1000 * gigabytes)} MB` : `${gigabytes.toFixed(1)} GB`}`;
    field("error").hidden = true;
    return true;
  } catch (error) {
    if (error.name !== "AbortError") {
      field("estimate").textContent = "";
      showError(error);
    }
    return false;
  }
}

function drawRange(player, { combos, cells }) {
  field(`count-${player}`).textContent = `${chips(combos)} combos`;
  handGrid(field(`range-grid-${player}`), (cell, name) => {
    const weight = cells[name];
    cell.setAttribute("aria-label", `${name}, ${percent(weight)}`);
    cell.title = `${name}, ${percent(weight)}`;
    cell.setAttribute("aria-selected", "false");
    if (weight <= 0) return;
    cell.classList.add("held");
    const fill = make("i");
    fill.style.height = `${100 * Math.min(1, weight)}%`;
    fill.style.background = "var(--held)";
    cell.prepend(fill);
  }, (name) => {
    const text = field(`range-${player}`);
    if (!text.value.trim()) { // all hands
      text.value = Object.keys(cells).filter((each) => each !== name).join(", ");
      check();
      return;
    }
    // Later entries of a range override earlier ones.
    const own = new RegExp(`,\\s*${name}(:0)?\\s*$`);
    const rest = own.test(text.value) ? text.value.replace(own, "") : text.value.replace(/[\s,]+$/, "");
    text.value = `${rest}, ${name}${cells[name] > 0 ? ":0" : ""}`;
    check();
  }, `range of ${SEATS[player]}`);
}

async function solve(path = []) {
  running?.abort();
  const controller = new AbortController();
  running = controller;
  play.toggle(false);
  field("solution").hidden = true;
  field("error").hidden = true;
  const fields = spot();
  const target = Number(field("target").value) || 0.2;
  setBusy(true);
  let last = null;
  let first = null;
  try {
    if (!(await check())) return;
    field("status").textContent = "The hands are listed\u2026";
    do {
      last = await request("solve", fields);
      first ??= Math.max(last.percent, 2 * target);
      field("progress").value = Math.min(1, Math.log(first / last.percent) / Math.log(first / target));
      field("status").textContent = `${last.percent.toPrecision(3)} % of the pot, ${
        last.iterations.toLocaleString("en")} iterations, ${last.seconds.toFixed(1)} s`;
    } while (last.percent > target && !controller.signal.aborted);
    if (running !== controller) return;
    solved = { fields, nodes: new Map() };
    field("quality").textContent = `exploitable by ${last.percent.toPrecision(2)} % of the pot, after ${
      last.iterations.toLocaleString("en")} iterations`;
    await view.go(path).catch((error) => {
      if (!path.length) throw error;
      return view.go([]);
    });
    field("solution").hidden = false;
    field("spot").open = false;
  } catch (error) {
    if (error.name !== "AbortError") showError(error);
  } finally {
    if (running === controller) {
      running = null;
      setBusy(false);
    }
  }
}

function setBusy(isBusy) {
  document.body.dataset.busy = isBusy ? "yes" : "no";
  field("going").hidden = !isBusy;
  field("stop").hidden = !isBusy;
  field("solve").disabled = isBusy;
  if (isBusy) [field("progress").value, field("status").textContent] = [0, ""];
}

async function look(path) {
  const { fields, nodes } = solved;
  const name = path.join(".");
  if (!nodes.has(name)) {
    nodes.set(name, request("see", { ...fields, path }).catch((error) => {
      nodes.delete(name);
      showError(error);
      throw error;
    }));
  }
  return nodes.get(name);
}

function setAddress(path) {
  const words = new URLSearchParams(Object.entries(FIELDS).map(([name, id]) => [name, field(id).value]));
  for (const [name, value] of Object.entries(solved.fields)) words.set(name, value);
  words.set("path", path.join("."));
  if (location.hash.slice(1) !== words.toString()) history.pushState(null, "", `#${words}`);
}

// Shows the spot and node of the address.
function open() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (!words.has("board")) {
    check();
    return;
  }
  const path = (words.get("path") || "").split(".").filter(Boolean).map(Number);
  const isSame = solved && Object.entries(solved.fields).every(([name, value]) => words.get(name) === String(value));
  if (isSame) {
    view.go(path);
    return;
  }
  for (const [name, id] of Object.entries(FIELDS)) {
    if (words.has(name)) field(id).value = words.get(name);
  }
  solve(path);
}

field("form").addEventListener("submit", (event) => {
  event.preventDefault();
  solve();
});
field("form").addEventListener("input", () => {
  clearTimeout(checking?.due);
  checking ??= new AbortController();
  checking.due = setTimeout(check, 500);
});
field("stop").addEventListener("click", () => running?.abort());
window.addEventListener("popstate", open);
setBusy(false);
field("estimate").textContent = "Getting ready\u2026";
open();
