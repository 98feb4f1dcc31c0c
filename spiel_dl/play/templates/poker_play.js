"use strict";
// Play against the solution of an endgame: hands are dealt from both ranges, the opponent follows the
// solution, and each own action is compared with it.

// look(path) promises a node.
function pokerPlay(look) {
  const panel = document.getElementById("play");
  const total = { hands: 0, chips: 0, lost: 0 };
  let seat = 0;
  let lastStep = 0; // Answers to earlier clicks are dropped.

  const handOf = (node, player, cards) => Object.values(node.sides[player].hands).flat()
    .find((each) => each.cards === cards);

  // Draws an index with probabilities proportional to the weights.
  function draw(weights) {
    let left = Math.random() * weights.reduce((sum, each) => sum + each, 0);
    const index = weights.findIndex((each) => (left -= each) < 0);
    return index < 0 ? weights.findLastIndex((each) => each > 0) : index;
  }

  async function deal() {
    const step = ++lastStep;
    const root = await look([]);
    if (step !== lastStep) return;
    const ranges = root.sides.map((side) => Object.values(side.hands).flat());
    const overlap = (one, other) => cardsOf(one).some((card) => other.includes(card));
    let cards;
    do {
      cards = ranges.map((hands) => hands[draw(hands.map((each) => each.reach))].cards);
    } while (overlap(...cards));
    await advance({ cards, path: [], log: [], lost: 0, root });
  }

  async function advance(hand) {
    const step = ++lastStep;
    for (const each of panel.querySelectorAll(".choices button")) each.disabled = true;
    let node = await look(hand.path);
    if (step !== lastStep) return;
    while (node.player >= -1 && node.player !== seat) {
      if (node.player === -1) {
        const free = node.cards.filter((each) => !hand.cards.join("").includes(each.name));
        const card = free[Math.floor(Math.random() * free.length)];
        hand.path.push(card.card);
        hand.log.push(make("li", {}, "Dealt: ", playingCard(card.name)));
      } else {
        const { strategy } = handOf(node, node.player, hand.cards[node.player]);
        const action = node.actions[draw(strategy)];
        hand.path.push(action.action);
        hand.log.push(make("li", {}, `${SEATS[node.player]}: ${action.name}`));
      }
      node = await look(hand.path);
      if (step !== lastStep) return;
    }
    show(hand, node, node.player === seat ? options(hand, node) : result(hand, node));
  }

  function options(hand, node) {
    const own = handOf(node, seat, hand.cards[seat]);
    return make("div", { class: "choices", role: "group", "aria-label": "your actions" },
      ...node.actions.map((action, index) => {
        const button = make("button", { type: "button", "data-step": action.action }, action.name);
        button.addEventListener("click", () => {
          hand.path.push(action.action);
          hand.log.push(comparison(node, own, index, hand));
          advance(hand);
        });
        return button;
      }));
  }

  // Compares an action with the solution, and adds its cost to the hand's.
  function comparison(node, own, index, hand) {
    const words = node.actions.map((each, n) => `${each.name} ${percent(own.strategy[n])}`).join(", ");
    const item = make("li", {}, make("b", {}, `You: ${node.actions[index].name}. `), `Solution: ${words}. `);
    if (own.values[index] === null) return item;
    const lost = Math.max(...own.values) - own.values[index];
    hand.lost += lost;
    item.append(make("span", { class: lost > 0.005 * node.pot ? "ill" : "well" },
      lost > 0.0005 * node.pot ? `This costs ${chips(lost)} chips.` : "As good as any."));
    return item;
  }

  // The result of a hand, at showdown by the strengths of both hands.
  function result(hand, node) {
    const [own, other] = [seat, 1 - seat].map((each) => handOf(node, each, hand.cards[each]).strength);
    const won = node.folded >= 0 ? (node.folded === seat ? 0 : 1) : own > other ? 1 : own < other ? 0 : 0.5;
    const paid = hand.root.left[seat] - node.left[seat] + hand.root.pot / 2;
    const net = won * node.pot - paid;
    total.hands += 1;
    total.chips += net;
    total.lost += hand.lost;
    const words = won === 1 ? "You win" : won === 0 ? "You lose" : "A split pot";
    const again = make("button", { type: "button", id: "next-hand" }, "Next hand");
    again.addEventListener("click", deal);
    return make("div", {},
      make("p", { class: "result" }, `${words}: ${net > 0 ? "+" : ""}${chips(net)} chips. `,
        `${SEATS[1 - seat]} has `, playingCards(cardsOf(hand.cards[1 - seat]))),
      make("p", { class: "note" }, `Hands: ${total.hands}. In all ${chips(total.chips)} chips, counted from half of each pot; `
        + `your actions cost ${chips(total.lost)} against the solution.`), again);
  }

  // Shows the hand that is played, or the grid.
  function toggle(is) {
    panel.hidden = !is;
    for (const id of ["look", "where"]) document.getElementById(id).hidden = is;
  }

  function show(hand, node, below) {
    const other = make("button", { type: "button" }, `Play as ${SEATS[1 - seat]}`);
    other.addEventListener("click", () => { seat = 1 - seat; deal(); });
    const end = make("button", { type: "button", id: "end-play" }, "Back to the grid");
    end.addEventListener("click", () => toggle(false));
    const own = playingCards(cardsOf(hand.cards[seat]));
    own.classList.add("own");
    panel.replaceChildren(
      make("div", { class: "facts" }, make("span", {}, `You are ${SEATS[seat]}`), own,
        playingCards(node.board), make("span", {}, `pot ${chips(node.pot)}, you have ${chips(node.left[seat])}, `
          + `${SEATS[1 - seat]} ${chips(node.left[1 - seat])}`)),
      make("ol", { "aria-live": "polite" }, ...hand.log), below,
      make("p", { class: "choose" }, other, end));
    panel.querySelector(".choices button, #next-hand").focus();
  }

  document.getElementById("begin-play").addEventListener("click", () => {
    toggle(true);
    deal();
  });
  return { toggle };
}
