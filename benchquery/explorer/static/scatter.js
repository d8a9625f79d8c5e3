// The points and the rings of those picked, drawn by WebGL: tens of thousands in one call, so moving
// stays smooth. Without WebGL 2, and where a graphics card would be imitated, scatter_2d.js draws.

import {
  createBufferInfoFromArrays,
  createProgramInfo,
  drawBufferInfo,
  setAttribInfoBufferFromArray,
  setBuffersAndAttributes,
  setUniforms,
} from "./vendor/twgl.js";
import { RING, pointSize, ringSize } from "./point_size.js";
import { createFlatScatter } from "./scatter_2d.js";
import { WHOLE } from "./viewport.js";

const VERTEX = `#version 300 es
in vec2 start;
in vec2 end;
in vec4 colour;
uniform float progress;
uniform vec4 part;
uniform vec4 tint;
uniform float pointSize;
out vec4 shade;
void main() {
  vec2 place = (mix(start, end, progress) - part.xz) / (part.yw - part.xz);
  gl_Position = vec4(place.x * 2.0 - 1.0, 1.0 - place.y * 2.0, 0.0, 1.0);
  gl_PointSize = pointSize;
  shade = mix(colour, vec4(tint.rgb, 1.0), tint.a);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 shade;
uniform float pointSize;
uniform float ring;
out vec4 result;
void main() {
  float radius = pointSize * 0.5;
  float distance = length(gl_PointCoord - 0.5) * pointSize;
  float body = ring > 0.0 ? mix(0.3, 1.0, smoothstep(radius - ring - 1.0, radius - ring, distance)) : 1.0;
  float cover = shade.a * body * (1.0 - smoothstep(radius - 1.0, radius, distance));
  result = vec4(shade.rgb * cover, cover);
}`;

const GLIDE = 450;
const IMITATED = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/**
 * Draws points on a canvas.
 *
 * `setPoints(places, colours, order)` takes two numbers from 0 to 1 and four bytes a point,
 * and the rows in the order to draw them; places glide from the ones before if the rows
 * are the same. `setPicked(rows, colour)` takes the rows with a ring, and red, green and blue.
 * `setPart` takes which part is shown, `drawNow` draws at once, and `note` says what a person must
 * know of the drawing, if anything.
 */
export function createScatter(canvas) {
  const options = { antialias: false, premultipliedAlpha: true };
  const gl = hasGraphicsCard() ? canvas.getContext("webgl2", options) : null;
  return gl ? createGlScatter(canvas, gl) : createFlatScatter(canvas);
}

/** Tells whether WebGL 2 is there, and drawn by a card and not by the processor in its place. */
function hasGraphicsCard() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const named = gl.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL;
  const renderer = gl.getParameter(named ?? gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return !IMITATED.test(renderer);
}

function createGlScatter(canvas, gl) {
  let program;
  let buffers;
  let points = null;
  let picked = { rows: new Uint32Array(0), colour: [0, 0, 0] };
  let part = WHOLE;
  let glideStart = -Infinity;
  let frame = 0;

  function setUp() {
    program = createProgramInfo(gl, [VERTEX, FRAGMENT]);
    if (!program) throw new Error("This browser can not compile the program that draws the plot.");
    buffers = createBufferInfoFromArrays(gl, {
      start: { numComponents: 2, data: new Float32Array(2) },
      end: { numComponents: 2, data: new Float32Array(2) },
      colour: { numComponents: 4, data: new Uint8Array(4), normalize: true },
      indices: { numComponents: 1, data: new Uint32Array(1) },
    });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** Hands the points to the graphics card; their order is followed by the rows that are picked. */
  function upload() {
    setAttribInfoBufferFromArray(gl, buffers.attribs.start, points.start);
    setAttribInfoBufferFromArray(gl, buffers.attribs.end, points.places);
    setAttribInfoBufferFromArray(gl, buffers.attribs.colour, points.colours);
    const indices = new Uint32Array(points.order.length + picked.rows.length);
    indices.set(points.order);
    indices.set(picked.rows, points.order.length);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
  }

  function drawLayer(first, count, uniforms) {
    if (!count) return;
    setUniforms(program, uniforms);
    drawBufferInfo(gl, buffers, gl.POINTS, count, first * Uint32Array.BYTES_PER_ELEMENT);
  }

  function draw(now) {
    frame = 0;
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!points || gl.isContextLost()) return;
    const done = Math.min(1, (now - glideStart) / GLIDE);
    const size = pointSize(points.order.length, part);
    const all = points.order.length;
    gl.useProgram(program.program);
    setBuffersAndAttributes(gl, program, buffers);
    const shared = { progress: done * done * (3 - 2 * done), part };
    drawLayer(0, all, { ...shared, pointSize: ratio * size, tint: [0, 0, 0, 0], ring: 0 });
    drawLayer(all, picked.rows.length, {
      ...shared,
      pointSize: ratio * ringSize(picked.rows.length, size),
      tint: [...picked.colour.map((byte) => byte / 255), 1],
      ring: ratio * RING,
    });
    if (done < 1) ask();
  }

  function ask() {
    if (!frame) frame = requestAnimationFrame(draw);
  }

  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => {
    setUp();
    if (points) upload();
    ask();
  });
  setUp();

  return {
    note: null,
    setPoints(places, colours, order) {
      const moved = points !== null && points.places !== places;
      const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
      const glides = moved && !still && points.places.length === places.length;
      if (moved || points === null) glideStart = glides ? performance.now() : -Infinity;
      points = {
        start: glides ? points.places : moved ? places : (points?.start ?? places),
        places,
        colours,
        order,
      };
      upload();
      ask();
    },
    setPicked(rows, colour) {
      picked = { rows, colour };
      if (points) upload();
      ask();
    },
    setPart(shown) {
      part = shown;
      ask();
    },
    redraw: ask,
    drawNow: () => draw(Infinity),
  };
}
