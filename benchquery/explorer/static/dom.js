// Making elements, and finding those of the page.

const SVG = "http://www.w3.org/2000/svg";

/** Returns the element of the page with an id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Makes an element: `make("button", { class: "quiet", onclick: run }, "Run")`. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Makes an element of a drawing. */
export function makeSvg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function makeOption([value, content]) {
  return Array.isArray(content)
    ? make("optgroup", { label: value }, content.map(makeOption))
    : make("option", { value }, content);
}

/** Fills a select with `[value, text]` pairs, or `[heading, pairs]` for groups, and chooses one. */
export function setOptions(select, options, chosen) {
  const wanted = JSON.stringify(options);
  if (select.dataset.options !== wanted) {
    select.dataset.options = wanted;
    select.replaceChildren(...options.map(makeOption));
  }
  select.value = chosen;
}
