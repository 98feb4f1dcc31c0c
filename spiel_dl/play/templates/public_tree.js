// A public tree whose branches are loaded when they are opened.

const FIRST_ROWS = 60;

// Draws a tree and its selected public state. load(number) promises
// {state, below: [{number, name, reach, ends}], above: [number, ...], largestUtility, unit}.
// address(number) is a public state's hash in the page's address.
function publicTree(tree, detail, load, address = (number) => `#state-${number}`) {
  const nodes = new Map();
  let lastSelected = 0; // Of selections under way, the last one is shown.

  function makeItem(node, level, parent) {
    const turn = make("span", { class: "turn", "aria-hidden": "true" });
    const row = make("div", { class: "row" }, turn, make("span", { class: "label" }, node.name),
      make("span", { class: "reach", title: `reach probability ${node.reach}` },
        percent(node.reach)));
    const item = make("li", {
      role: "treeitem", tabindex: "-1", "aria-level": level, "aria-selected": "false",
    }, row);
    if (node.reach === 0) item.classList.add("never");
    if (!node.ends) item.setAttribute("aria-expanded", "false");
    turn.addEventListener("click", (event) => { event.stopPropagation(); toggleSafely(node.number); });
    row.addEventListener("click", () => { location.hash = address(node.number); });
    item.dataset.state = node.number;
    nodes.set(node.number, { ...node, item, parent });
    return item;
  }

  function isOpen(number) {
    return nodes.get(number).item.getAttribute("aria-expanded") === "true";
  }

  // Opens or closes a branch, and shows errors.
  async function toggleSafely(number, open) {
    try {
      await toggle(number, open);
    } catch (error) {
      if (error.name === "AbortError") return;
      detail.replaceChildren(make("p", { class: "error" }, error.message));
    }
  }

  async function toggle(number, open = !isOpen(number)) {
    const { item } = nodes.get(number);
    if (!item.hasAttribute("aria-expanded")) return;
    item.setAttribute("aria-expanded", open);
    let group = item.querySelector(":scope > [role=group]");
    if (open && !group) {
      let branch;
      try {
        branch = await load(number);
      } catch (error) {
        item.setAttribute("aria-expanded", "false");
        throw error;
      }
      const { below, num_below_left_out: leftOut } = branch;
      group = item.querySelector(":scope > [role=group]");
      if (!group) {
        const level = Number(item.getAttribute("aria-level")) + 1;
        group = make("ul", { role: "group" },
          ...below.map((child) => makeItem(child, level, number)));
        if (leftOut) group.append(make("li", { class: "note" }, `and ${leftOut} more`));
        item.append(group);
      }
    }
    // It may have been closed while it was loaded.
    if (group) group.hidden = !isOpen(number);
  }

  async function openFirstLevels(root) {
    let level = [root];
    let rows = 1;
    while (level.length) {
      const next = (await Promise.all(level.map(async (each) => (await load(each)).below))).flat();
      rows += next.length;
      if (rows > FIRST_ROWS) return;
      for (const each of level) await toggle(each, true);
      level = next.filter((each) => !each.ends).map((each) => each.number);
    }
  }

  function onKey(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
    const number = Number(item.dataset.state);
    const visible = [...tree.querySelectorAll("[role=treeitem]")]
      .filter((each) => !each.closest("[hidden]"));
    const index = visible.indexOf(item);
    const moves = {
      ArrowDown: () => visible[index + 1],
      ArrowUp: () => visible[index - 1],
      Home: () => visible[0],
      End: () => visible[visible.length - 1],
      ArrowRight: () => {
        if (item.hasAttribute("aria-expanded") && isOpen(number)) return visible[index + 1];
        toggleSafely(number, true);
        return item;
      },
      ArrowLeft: () => {
        if (item.hasAttribute("aria-expanded") && isOpen(number)) {
          toggleSafely(number, false);
          return item;
        }
        return nodes.get(nodes.get(number).parent)?.item;
      },
      Enter: () => { location.hash = address(number); return item; },
      " ": () => { location.hash = address(number); return item; },
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    focusItem(moves[event.key]() ?? item);
  }

  function focusItem(item) {
    for (const each of tree.querySelectorAll("[tabindex='0']")) each.tabIndex = -1;
    item.tabIndex = 0;
    item.focus();
  }

  // The selected public state.

  function link(node) {
    return make("a", { href: address(node.number) }, node.name);
  }

  function describe({ state, below, above, largestUtility, unit }) {
    const path = make("div", { class: "path" });
    for (const number of above) path.append(link(nodes.get(number)), " \u203a ");
    const parts = [
      path,
      make("h2", {}, `Public state ${state.number}: ${state.name}`),
      make("dl", {},
        fact("acts", who(state)),
        fact("histories", String(state.num_histories)),
        fact("reach probability", show(state.reach), state.reach),
        fact("value", show(state.value, true), "player 0's expected utility once play is here"),
        fact("depth", `${state.depth} ${unit}`)),
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
    for (const player of [0, 1]) parts.push(...playerTable(state, player, largestUtility));
    parts.push(columnHelp());
    detail.replaceChildren(...parts);
    detail.scrollTop = 0;
  }

  async function select(number) {
    const request = ++lastSelected;
    let branch;
    try {
      branch = await load(number);
      for (const each of branch.above) await toggle(each, true);
    } catch (error) {
      if (request === lastSelected && error.name !== "AbortError") {
        detail.replaceChildren(make("p", { class: "error" }, error.message));
      }
      return;
    }
    if (request !== lastSelected) return;
    for (const each of tree.querySelectorAll("[aria-selected=true]")) {
      each.setAttribute("aria-selected", "false");
    }
    const { item } = nodes.get(number);
    item.setAttribute("aria-selected", "true");
    for (const each of tree.querySelectorAll("[tabindex='0']")) each.tabIndex = -1;
    item.tabIndex = 0;
    item.firstChild.scrollIntoView({ block: "nearest" });
    describe(branch);
  }

  async function start(root, openFirst) {
    const { state, below } = await load(root);
    tree.replaceChildren(makeItem({ ...state, ends: !below.length }, 1, -1));
    if (openFirst) await openFirstLevels(root);
    else await toggle(root, true);
  }

  tree.onkeydown = onKey;
  return { start, select };
}

function stateInAddress() {
  const match = /^#state-(\d+)$/.exec(location.hash);
  return match ? Number(match[1]) : null;
}
