"use strict";
// The form to begin a game or open a tree: game, opponent, and options of its search.

const at = (id) => document.getElementById(id);
let menu = null;

function showMenu(content) {
  menu = content;
  at("games").replaceChildren(...menu.games.map((each) => {
    const card = make("button", { type: "button", class: "game", "data-game": each.name },
      drawing(each.drawing), make("b", {}, each.title), make("span", {}, each.text));
    card.addEventListener("click", () => chooseGame(each.name));
    return card;
  }));
  at("kinds").replaceChildren(...menu.kinds.map((kind) => fact(kind.pattern, kind.meaning)));
  at("options").replaceChildren(
    ...menu.options.map((each) => make("label", {}, each.name.replaceAll("_", " "),
      make("input", { name: each.name, id: `option-${each.name}`,
        placeholder: each.default || "default" }), make("small", {}, each.text))),
    make("p", { class: "note" }, `A search may take ${menu.seconds} seconds.`));
  chooseGame(menu.games[0].name);
}

function chooseGame(name) {
  at("game").value = name;
  const known = menu.games.find((each) => each.name === name.trim());
  for (const card of at("games").children) {
    card.setAttribute("aria-pressed", String(card.dataset.game === known?.name));
  }
  at("opponents").replaceChildren(...(known?.opponents ?? menu.opponents).map((each) => {
    const choice = make("button", { type: "button", "data-policy": each.name },
      make("b", {}, each.title), " ", make("small", {}, each.strength),
      make("span", {}, each.reason ? `Not here: ${each.reason}.` : each.text),
      make("code", {}, each.name));
    choice.disabled = each.reason !== "";
    choice.addEventListener("click", () => choosePolicy(each.name));
    return choice;
  }));
  const enabled = [...at("opponents").children].filter((each) => !each.disabled);
  choosePolicy(enabled[0].dataset.policy);
}

function choosePolicy(name) {
  at("policy").value = name;
  for (const each of at("opponents").children) {
    each.setAttribute("aria-pressed", String(each.dataset.policy === name.trim()));
  }
}

// Fills the form with the fields of an earlier request.
function fillForm({ game, policy, seat = 0, options = {} }) {
  chooseGame(game);
  choosePolicy(policy);
  at("seat").value = String(seat);
  for (const input of at("options").querySelectorAll("input")) {
    input.value = options[input.name] ?? "";
  }
}

// The fields of a request, from the form.
function formFields() {
  const filled = [...at("options").querySelectorAll("input")].filter((input) => input.value.trim());
  const options = Object.fromEntries(filled.map((input) => [input.name, input.value]));
  return { game: at("game").value, policy: at("policy").value, options };
}

at("game").addEventListener("change", () => chooseGame(at("game").value));
at("policy").addEventListener("change", () => choosePolicy(at("policy").value));
at("search").addEventListener("input", () => {
  const words = at("search").value.toLowerCase().split(/\s+/);
  for (const card of at("games").children) {
    const text = `${card.textContent} ${card.dataset.game}`.toLowerCase();
    card.hidden = !words.every((word) => text.includes(word));
  }
});
at("search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  const first = [...at("games").children].find((card) => !card.hidden);
  if (first) first.click();
});
