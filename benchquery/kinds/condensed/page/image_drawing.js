// Condensed images drawn as a grid: a column a class, the pixels as they are.

import { make } from "../../dom.js";

const OPAQUE = 255;

/** Returns the pixels of all images, one after the other, as bytes. */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** Returns one image as the canvas takes it. */
function imageOf(bytes, { width, height, channels }) {
  const image = new ImageData(width, height);
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let part = 0; part < 3; part++) {
      image.data[4 * pixel + part] = bytes[channels * pixel + (channels === 3 ? part : 0)];
    }
    image.data[4 * pixel + 3] = OPAQUE;
  }
  return image;
}

/** Draws images; those of a class are below each other. */
export function drawImages(images) {
  const { classes, width, height, channels } = images;
  const columns = [...new Set(classes)];
  const filled = new Map(columns.map((one) => [one, 0]));
  const deepest = Math.max(...columns.map((one) => classes.filter((of) => of === one).length));
  const canvas = make("canvas", {
    class: "images",
    width: columns.length * (width + 1) - 1,
    height: deepest * (height + 1) - 1,
    role: "img",
    "aria-label": `${classes.length} condensed images of ${columns.length} classes`,
  });
  const context = canvas.getContext("2d");
  const bytes = bytesOf(images.pixels);
  const size = width * height * channels;
  classes.forEach((one, number) => {
    const image = imageOf(bytes.subarray(number * size, (number + 1) * size), images);
    const row = filled.get(one);
    filled.set(one, row + 1);
    context.putImageData(image, columns.indexOf(one) * (width + 1), row * (height + 1));
  });
  return canvas;
}
