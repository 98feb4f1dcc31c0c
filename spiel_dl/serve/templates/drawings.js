"use strict";
// Small drawings of games, for the gallery.

function svg(tag, attributes, ...content) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

const box = (x, y, width, height, look = "plain", round = 3) =>
  svg("rect", { x, y, width, height, rx: round, class: look });
const disc = (cx, cy, r, look = "plain") => svg("circle", { cx, cy, r, class: look });
const letters = (x, y, text) => {
  const element = svg("text", { x, y, class: "letter" });
  element.textContent = text;
  return element;
};
const hexagon = (x, y, r, look = "plain") => svg("polygon", {
  class: look,
  points: [0, 1, 2, 3, 4, 5]
    .map((each) => [x + r * Math.sin(each * Math.PI / 3), y - r * Math.cos(each * Math.PI / 3)])
    .map((point) => point.map((each) => each.toFixed(2)).join(",")).join(" "),
});
const tiles = (looks, columns, size) => [...looks].map((look, each) =>
  box(30 + (each % columns) * size, 3 + Math.floor(each / columns) * size, size - 2, size - 2,
    { ".": "plain", s: "filled", x: "bad" }[look], 2));

const DRAWINGS = {
  cards: () => [box(22, 8, 26, 38), letters(35, 33, "Q"), box(54, 8, 26, 38, "filled"),
    box(60, 14, 14, 26, "lined")],
  prizes: () => [box(37, 2, 26, 32, "prize"), letters(50, 25, "5"),
    ...[18, 40, 62].map((x) => box(x, 38, 20, 20))],
  dice: () => [box(28, 8, 40, 40, "plain", 7), ...[[38, 18], [58, 18], [48, 28], [38, 38], [58, 38]]
    .map(([x, y]) => disc(x, y, 3.6, "filled"))],
  sumo: () => [...[0, 1, 2, 3, 4].map((each) => box(11 + each * 16, 26, 14, 14)),
    disc(66, 20, 8, "filled")],
  ships: () => tiles(".s..s.x..", 3, 17),
  noughts: () => [...tiles(".........", 3, 17), disc(38, 11, 5, "filled"), disc(55, 28, 5, "ring"),
    disc(72, 45, 5, "filled")],
  hex: () => [0, 1, 2].flatMap((row) => [0, 1, 2].map((column) => hexagon(
    28 + column * 17 + row * 8.5, 13 + row * 15, 9, row === column ? "filled" : "plain"))),
};

function drawing(name) {
  return svg("svg", { viewBox: "0 0 100 60", "aria-hidden": "true" }, ...DRAWINGS[name]());
}
