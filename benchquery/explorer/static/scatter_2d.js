// The points drawn by the processor, for browsers without WebGL 2 or without a graphics card.

import { cssColour } from "./colours.js";
import { RING, pointSize, ringSize } from "./point_size.js";
import { createStamp, stampAt } from "./raster.js";
import { WHOLE } from "./viewport.js";

const EDGE = 16;
const OPAQUE = 256;

/** Draws points on a canvas; see `createScatter`. */
export function createFlatScatter(canvas) {
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  let points = null;
  let picked = { rows: [], colour: [0, 0, 0] };
  let part = WHOLE;
  let frame = 0;

  /** Returns an image of the background, with an edge around it for points that are cut. */
  function emptyImage(width, height) {
    const image = new ImageData(width + 2 * EDGE, height + 2 * EDGE);
    const [red, green, blue] = cssColour("--panel");
    const word = (255 << 24) | (blue << 16) | (green << 8) | red;
    new Uint32Array(image.data.buffer).fill(word >>> 0);
    return image;
  }

  function draw() {
    frame = 0;
    if (!context) return;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (!width || !height) return;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const image = emptyImage(width, height);
    if (points) drawPoints(image, width, height, ratio);
    context.putImageData(image, -EDGE, -EDGE);
  }

  function drawPoints(image, width, height, ratio) {
    const { places, colours, order } = points;
    const [left, right, top, bottom] = part;
    const [scaleX, scaleY] = [width / (right - left), height / (bottom - top)];
    const size = pointSize(order.length, part);
    const disc = createStamp(ratio * size);
    const colour = [0, 0, 0];
    const at = (row, stamp, shade, alpha) =>
      stampAt(
        image,
        stamp,
        (places[2 * row] - left) * scaleX + EDGE,
        (places[2 * row + 1] - top) * scaleY + EDGE,
        shade,
        alpha,
      );
    for (const row of order) {
      for (let channel = 0; channel < 3; channel++) colour[channel] = colours[4 * row + channel];
      at(row, disc, colour, colours[4 * row + 3]);
    }
    const ring = createStamp(ratio * ringSize(picked.rows.length, size), ratio * RING);
    for (const row of picked.rows) at(row, ring, picked.colour, OPAQUE);
  }

  function ask() {
    if (!frame) frame = requestAnimationFrame(draw);
  }

  return {
    note: context ? null : "this browser can't draw the points; all else works",
    setPoints(places, colours, order) {
      points = { places, colours, order };
      ask();
    },
    setPicked(rows, colour) {
      picked = { rows, colour };
      ask();
    },
    setPart(shown) {
      part = shown;
      ask();
    },
    redraw: ask,
    drawNow: draw,
  };
}
