// The points, drawn by WebGL: tens of thousands in one call, so moving stays smooth.

import {
  createBufferInfoFromArrays,
  createProgramInfo,
  drawBufferInfo,
  setAttribInfoBufferFromArray,
  setBuffersAndAttributes,
  setUniforms,
} from "./vendor/twgl.js";

const VERTEX = `#version 300 es
in vec2 start;
in vec2 end;
in vec4 colour;
uniform float progress;
uniform vec2 size;
uniform vec3 zoom;
uniform float pointSize;
out vec4 shade;
void main() {
  vec2 place = mix(start, end, progress) * size * zoom.x + zoom.yz;
  gl_Position = vec4(place.x / size.x * 2.0 - 1.0, 1.0 - place.y / size.y * 2.0, 0.0, 1.0);
  gl_PointSize = pointSize;
  shade = colour;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 shade;
uniform float pointSize;
out vec4 result;
void main() {
  float distance = length(gl_PointCoord - 0.5) * pointSize;
  float cover = shade.a * (1.0 - smoothstep(pointSize * 0.5 - 1.0, pointSize * 0.5, distance));
  result = vec4(shade.rgb * cover, cover);
}`;

const GLIDE = 450;
const SIZES = [
  [5_000, 3.8],
  [1_000, 6.5],
  [0, 9],
];
/** The size of points in pixels, if there are more than so many. */
const sizeOf = (count) => SIZES.find(([least]) => count > least)[1];

/**
 * Draws points on a canvas.
 *
 * `setPoints(places, colours, order)` takes two numbers from 0 to 1 and four bytes a point,
 * and the rows in the order to draw them; places glide from the ones before if the rows
 * are the same. `setZoom` takes d3's transform. Throws an Error if there is no WebGL.
 */
export function createScatter(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  if (!gl) throw new Error("This browser has no WebGL 2, which the plot is drawn with.");
  let program;
  let buffers;
  let points = null;
  let zoom = { k: 1, x: 0, y: 0 };
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

  function upload() {
    setAttribInfoBufferFromArray(gl, buffers.attribs.start, points.start);
    setAttribInfoBufferFromArray(gl, buffers.attribs.end, points.places);
    setAttribInfoBufferFromArray(gl, buffers.attribs.colour, points.colours);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, points.order, gl.STATIC_DRAW);
    buffers.numElements = points.order.length;
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
    if (!points || !points.order.length || gl.isContextLost()) return;
    const part = Math.min(1, (now - glideStart) / GLIDE);
    gl.useProgram(program.program);
    setBuffersAndAttributes(gl, program, buffers);
    setUniforms(program, {
      progress: part * part * (3 - 2 * part),
      size: [width, height],
      zoom: [zoom.k, zoom.x, zoom.y],
      pointSize: ratio * Math.min(12, sizeOf(points.order.length) + 1.6 * Math.log2(zoom.k)),
    });
    drawBufferInfo(gl, buffers, gl.POINTS);
    if (part < 1) ask();
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
    setZoom(transform) {
      zoom = transform;
      ask();
    },
    redraw: ask,
  };
}
