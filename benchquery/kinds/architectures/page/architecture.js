// Architectures: what a hash says, which others are one change away, and their drawing.
//
// A hash is a decimal number: the index of the link list, then four operation indices.

const NODES = 4;

/** Returns the way to read hashes, from the facts of the kind. */
export function createReader({ ops, links }) {
  const opDigits = (hash) => [1000, 100, 10, 1].map((place) => Math.floor(hash / place) % 10);
  const linkOf = (hash) => links[Math.floor(hash / 10 ** NODES)];
  const opsOf = (hash) => opDigits(hash).map((digit) => ops[digit]);
  return {
    links,
    ops,
    linkOf,
    opsOf,
    depthOf: (hash) => linkOf(hash).depth,
    countOf: (hash, op) => opsOf(hash).filter((name) => name === op).length,
    shortName: (hash) => `${opsOf(hash).join(" ")} · ${linkOf(hash).name}`,
    python: (hash) =>
      `Arch([${linkOf(hash).link.join(", ")}], [${opsOf(hash)
        .map((op) => `"${op}"`)
        .join(", ")}])`,
  };
}

/** Returns, for every row of hashes, the index of its link list and of its operations. */
export function readDigits(hashes) {
  const digits = new Uint8Array(hashes.length * (NODES + 1));
  hashes.forEach((hash, row) => {
    for (let place = NODES, rest = hash; place >= 0; place--, rest = Math.floor(rest / 10)) {
      digits[row * (NODES + 1) + place] = rest % 10;
    }
  });
  return digits;
}

/** Lists all link lists with `link[i] <= i`, in order. */
export function rawLinks() {
  let lists = [[]];
  for (let node = 0; node < NODES; node++) {
    lists = lists.flatMap((list) =>
      Array.from({ length: node + 1 }, (_, parent) => [...list, parent]),
    );
  }
  return lists;
}

/**
 * Returns the hashes one change away: one other operation or one other link in any raw form.
 *
 * @param forms The hash of every raw form, links outside and operations inside.
 */
export function neighbours(hash, forms, opCount) {
  const links = rawLinks();
  const linkIndex = new Map(links.map((link, index) => [link.join(), index]));
  const perLink = opCount ** NODES;
  const found = new Set();
  for (let form = forms.indexOf(hash); form >= 0; form = forms.indexOf(hash, form + 1)) {
    const link = links[Math.floor(form / perLink)];
    for (let node = 0; node < NODES; node++) {
      const weight = opCount ** (NODES - 1 - node);
      const digit = Math.floor((form % perLink) / weight) % opCount;
      for (let op = 0; op < opCount; op++) found.add(forms[form + (op - digit) * weight]);
      for (let parent = 0; parent <= node; parent++) {
        const changed = linkIndex.get(link.with(node, parent).join());
        found.add(forms[changed * perLink + (form % perLink)]);
      }
    }
  }
  found.delete(hash);
  found.delete(-1);
  return [...found].sort((a, b) => a - b);
}

/** Returns the drawing of an architecture: its link list's, with the operations written in. */
export function draw(reader, hash) {
  const parsed = new DOMParser().parseFromString(reader.linkOf(hash).svg, "image/svg+xml");
  const svg = document.importNode(parsed.documentElement, true);
  svg.classList.add("drawing");
  svg.removeAttribute("font-family");
  svg.querySelector("title").textContent = reader.python(hash);
  const boxes = svg.querySelectorAll("rect");
  const texts = svg.querySelectorAll("text");
  reader.opsOf(hash).forEach((op, node) => {
    texts[node + 1].textContent = op;
    boxes[node + 1].classList.add("node");
    boxes[node + 1].dataset.op = op;
  });
  return svg;
}

/** Returns the small picture of a link list, without names. */
export function drawLink(link) {
  const parsed = new DOMParser().parseFromString(link.svg, "image/svg+xml");
  const svg = document.importNode(parsed.documentElement, true);
  svg.classList.add("link-picture");
  svg.querySelectorAll("text, title").forEach((element) => element.remove());
  svg.setAttribute("aria-hidden", "true");
  return svg;
}
