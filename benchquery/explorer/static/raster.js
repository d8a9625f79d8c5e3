// Points drawn by the processor into the pixels of an image: where there is no graphics card, faster
// by far than one that is imitated.

const PHASES = 4;

/**
 * Returns how much of each pixel a disc covers, from 0 to 256, for a centre that is a share of a
 * pixel off; a ring is darker than what is inside of it.
 */
function coverage(size, ring, offX, offY) {
  const side = Math.ceil(size) + 2;
  const radius = size / 2;
  const mask = new Uint16Array(side * side);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const distance = Math.hypot(x + 0.5 - side / 2 - offX, y + 0.5 - side / 2 - offY);
      const edge = Math.min(1, Math.max(0, radius + 0.5 - distance));
      const body = ring && distance < radius - ring ? 0.3 : 1;
      mask[y * side + x] = Math.round(256 * edge * body);
    }
  }
  return { side, mask };
}

/** Returns the coverage of discs by where in a pixel their centre is. */
export function createStamp(size, ring = 0) {
  const stamps = Array.from({ length: PHASES * PHASES }, (_, phase) =>
    coverage(size, ring, (phase % PHASES) / PHASES, Math.floor(phase / PHASES) / PHASES),
  );
  return { side: stamps[0].side, of: (x, y) => stamps[y * PHASES + x].mask };
}

/** Blends a disc of a colour into an image; `alpha` runs from 0 to 256. */
export function stampAt({ data, width, height }, stamp, x, y, [red, green, blue], alpha) {
  const [left, top] = [x - stamp.side / 2, y - stamp.side / 2];
  const [startX, startY] = [Math.floor(left), Math.floor(top)];
  if (startX < 0 || startY < 0 || startX + stamp.side > width || startY + stamp.side > height)
    return;
  const phase = (share) => Math.min(PHASES - 1, Math.floor(share * PHASES));
  const mask = stamp.of(phase(left - startX), phase(top - startY));
  for (let row = 0, cell = 0; row < stamp.side; row++) {
    let at = 4 * ((startY + row) * width + startX);
    for (let column = 0; column < stamp.side; column++, cell++, at += 4) {
      const part = (mask[cell] * alpha) >> 8;
      if (!part) continue;
      data[at] += ((red - data[at]) * part) >> 8;
      data[at + 1] += ((green - data[at + 1]) * part) >> 8;
      data[at + 2] += ((blue - data[at + 2]) * part) >> 8;
    }
  }
}
