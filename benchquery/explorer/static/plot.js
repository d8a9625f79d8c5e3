// The plot: axes, zoom, hovering, picking, and moving with the keys. The points themselves
// are scatter.js's.

import {
  axisBottom,
  axisLeft,
  pointer,
  scaleLinear,
  scaleLog,
  select,
  zoom,
  zoomIdentity,
} from "./vendor/d3.js";
import { byId, make, makeSvg } from "./dom.js";
import { columnTitle, withUnit } from "./format.js";
import { createScatter } from "./scatter.js";

const MARGIN = { top: 14, right: 16, bottom: 46, left: 64 };
const NEAR = 14;
const MOST_ZOOM = 400;
const STRIDE = 1_000_003;
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Returns a scale from values to the unit interval; it has a margin so no point is cut. */
function unitScale(values, rows, log) {
  let low = Infinity;
  let high = -Infinity;
  for (const row of rows) {
    const value = values[row];
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [log ? 1 : 0, 10];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const scale = log ? scaleLog([low, high], [0, 1]) : scaleLinear([low, high], [0, 1]);
  return scale.domain([scale.invert(-0.03), scale.invert(1.03)]);
}

/**
 * Returns the rows in the order to draw them: those that pass last, and shuffled, always the
 * same way, so that no kind of row lies on top of the others.
 */
function drawOrder(pass) {
  const order = new Uint32Array(pass.length);
  let at = 0;
  for (const passes of [0, 1]) {
    for (let step = 0, row = 0; step < pass.length; step++, row = (row + STRIDE) % pass.length) {
      if (pass[row] === passes) order[at++] = row;
    }
  }
  return order.subarray(0, at);
}

/**
 * Makes the plot.
 *
 * @param actions `focus(row)`, `pick(rows, toggles)`, `drop()`, `view(view)`: what gestures ask for.
 */
export function createPlot(actions) {
  const holder = byId("plot");
  const tooltip = byId("tooltip");
  const svg = select(byId("overlay"));
  const canvas = byId("points");
  const scatter = createScatter(canvas);
  const grid = svg.append("g").attr("class", "axis");
  const xAxis = grid.append("g");
  const yAxis = grid.append("g");
  const xTitle = svg.append("text").attr("class", "axis-title");
  const yTitle = svg.append("text").attr("class", "axis-title");
  const inside = svg.append("svg").attr("class", "inside");
  inside.append("rect").attr("class", "ground").attr("width", "100%").attr("height", "100%");
  const marks = inside.append("g");
  const ringedDots = marks.append("g");
  const frontLine = marks.append("path").attr("class", "front-line");
  const frontDots = marks.append("g");
  const pickedDots = marks.append("g");
  const focusDot = marks.append("g");
  const boxRect = inside.append("rect").attr("class", "pick-box").attr("visibility", "hidden");

  let shown = null;
  let size = { width: 0, height: 0 };
  let transform = zoomIdentity;
  let boxMode = false;
  let frame = 0;

  const zooming = zoom()
    .scaleExtent([1, MOST_ZOOM])
    .filter((event) => {
      const oneFinger = event.type === "touchstart" && event.touches.length === 1;
      if (boxMode || event.shiftKey) return event.type === "wheel";
      return !event.button && !(oneFinger && transform.k === 1);
    })
    .on("zoom", ({ transform: next, sourceEvent }) => {
      transform = next;
      holder.classList.toggle("zoomed", transform.k > 1);
      if (!sourceEvent) render();
      else if (!frame) frame = requestAnimationFrame(render);
    })
    .on("end", ({ sourceEvent }) => sourceEvent && actions.view(viewOf(transform)));
  inside.call(zooming).on("dblclick.zoom", null);

  function viewOf({ k, x, y }) {
    return k === 1 ? null : [k, x / size.width, y / size.height];
  }

  function applyView(view) {
    const next = view
      ? zoomIdentity.translate(view[1] * size.width, view[2] * size.height).scale(view[0])
      : zoomIdentity;
    inside.call(zooming.transform, next);
  }

  function resize() {
    const { clientWidth, clientHeight } = holder;
    const view = viewOf(transform);
    size = {
      width: Math.max(50, clientWidth - MARGIN.left - MARGIN.right),
      height: Math.max(50, clientHeight - MARGIN.top - MARGIN.bottom),
    };
    Object.assign(canvas.style, {
      left: `${MARGIN.left}px`,
      top: `${MARGIN.top}px`,
      width: `${size.width}px`,
      height: `${size.height}px`,
    });
    inside
      .attr("x", MARGIN.left)
      .attr("y", MARGIN.top)
      .attr("width", size.width)
      .attr("height", size.height);
    zooming
      .extent([
        [0, 0],
        [size.width, size.height],
      ])
      .translateExtent([
        [0, 0],
        [size.width, size.height],
      ]);
    applyView(view);
    scatter.redraw();
  }

  /** Returns where a row is drawn, in pixels of the inner area. */
  function placeOf(row) {
    return [
      transform.applyX(shown.places[2 * row] * size.width),
      transform.applyY(shown.places[2 * row + 1] * size.height),
    ];
  }

  const isInside = ([x, y]) => x >= -9 && y >= -9 && x <= size.width + 9 && y <= size.height + 9;

  function nearest(x, y, limit) {
    let best = null;
    let least = limit * limit;
    const { places, model } = shown;
    const [kx, ky] = [transform.k * size.width, transform.k * size.height];
    const [left, top] = [x - transform.x, y - transform.y];
    for (const row of model.rows) {
      const distance = (places[2 * row] * kx - left) ** 2 + (places[2 * row + 1] * ky - top) ** 2;
      if (distance < least) [best, least] = [row, distance];
    }
    return best;
  }

  function renderAxes() {
    const { x, y, model, state } = shown;
    const few = size.width < 420;
    const xScale = transform.rescaleX(x.copy().range([0, size.width]));
    const yScale = transform.rescaleY(y.copy().range([size.height, 0]));
    xAxis.attr("transform", `translate(${MARGIN.left},${MARGIN.top + size.height})`).call(
      axisBottom(xScale)
        .ticks(few ? 4 : 8, state.xlog ? "~g" : undefined)
        .tickSize(-size.height)
        .tickPadding(9),
    );
    yAxis.attr("transform", `translate(${MARGIN.left},${MARGIN.top})`).call(
      axisLeft(yScale)
        .ticks(6, state.ylog ? "~g" : undefined)
        .tickSize(-size.width)
        .tickPadding(9),
    );
    const name = (column, table) => columnTitle(column) + (model.other ? ` on ${table.name}` : "");
    const better = (column, [lower, higher]) =>
      column.direction
        ? column.direction === "higher"
          ? `  ${higher} better`
          : `  ${lower} better`
        : "";
    xTitle
      .attr("x", MARGIN.left + size.width / 2)
      .attr("y", MARGIN.top + size.height + 40)
      .text(name(model.xColumn, model.table) + better(model.xColumn, ["←", "→"]));
    yTitle
      .attr("transform", `translate(14,${MARGIN.top + size.height / 2}) rotate(-90)`)
      .text(name(model.yColumn, model.upper) + better(model.yColumn, ["←", "→"]));
  }

  function dots(group, rows, className, radius) {
    group.node().replaceChildren(
      ...rows
        .map(placeOf)
        .filter(isInside)
        .map(([cx, cy]) =>
          makeSvg("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: radius, class: className }),
        ),
    );
  }

  function renderMarks() {
    const { model, state, focusRow, ringedRows, pickedRows } = shown;
    const front = state.front ? model.front : [];
    const steps = front.map(placeOf).map(([x, y]) => `H${x.toFixed(1)}V${y.toFixed(1)}`);
    const [start] = front.map(placeOf);
    frontLine.attr("d", start ? `M${start.join(" ")}${steps.join("")}` : null);
    dots(frontDots, front, "front-dot", 4.5);
    dots(ringedDots, ringedRows, "ringed-dot", 4.5);
    dots(pickedDots, pickedRows, "picked-dot", 6);
    dots(focusDot, focusRow === null ? [] : [focusRow], "focus-dot", 8);
  }

  function render() {
    frame = 0;
    if (!shown) return;
    scatter.setZoom(transform);
    renderAxes();
    renderMarks();
  }

  function showTooltip(row) {
    if (row === null) {
      tooltip.hidden = true;
      return;
    }
    const { model, view } = shown;
    const { title, facts } = view.tooltip(model.table, row);
    const line = (column, value, table) =>
      make(
        "div",
        {},
        make("span", {}, column.name + (model.other ? ` on ${table.name}` : "")),
        make("b", {}, withUnit(value, column)),
      );
    tooltip.replaceChildren(
      make("strong", {}, title),
      ...facts.map(([name, text]) => make("div", {}, make("span", {}, name), make("b", {}, text))),
      line(model.yColumn, model.yValues[row], model.upper),
      line(model.xColumn, model.xValues[row], model.table),
    );
    tooltip.hidden = false;
    const [x, y] = placeOf(row);
    const left = MARGIN.left + x + 14;
    const flips = left + tooltip.offsetWidth > holder.clientWidth;
    tooltip.style.left = `${flips ? Math.max(4, MARGIN.left + x - 14 - tooltip.offsetWidth) : left}px`;
    tooltip.style.top = `${Math.max(4, Math.min(MARGIN.top + y - 20, holder.clientHeight - tooltip.offsetHeight - 4))}px`;
  }

  const inner = (event) => pointer(event, inside.node());

  let boxStart = null;
  inside
    .on("pointermove", (event) => {
      if (!shown) return;
      const [x, y] = inner(event);
      if (boxStart) {
        boxRect
          .attr("visibility", null)
          .attr("x", Math.min(x, boxStart[0]))
          .attr("y", Math.min(y, boxStart[1]))
          .attr("width", Math.abs(x - boxStart[0]))
          .attr("height", Math.abs(y - boxStart[1]));
      } else if (event.pointerType === "mouse" && !event.buttons) {
        showTooltip(nearest(x, y, NEAR));
      }
    })
    .on("pointerleave", () => showTooltip(null))
    .on("pointerdown", (event) => {
      showTooltip(null);
      if (shown && (boxMode || event.shiftKey) && !event.button) {
        boxStart = inner(event);
        inside.node().setPointerCapture(event.pointerId);
      }
    })
    .on("pointerup pointercancel", (event) => {
      if (!boxStart) return;
      const [x, y] = inner(event);
      const [left, right] = [Math.min(x, boxStart[0]), Math.max(x, boxStart[0])];
      const [top, bottom] = [Math.min(y, boxStart[1]), Math.max(y, boxStart[1])];
      boxStart = null;
      boxRect.attr("visibility", "hidden");
      if (event.type === "pointercancel" || right - left < 4 || bottom - top < 4) return;
      actions.pick(
        shown.model.rows.filter((row) => {
          const [px, py] = placeOf(row);
          return px >= left && px <= right && py >= top && py <= bottom;
        }),
        false,
      );
    })
    .on("click", (event) => {
      if (!shown || event.defaultPrevented) return;
      const row = nearest(...inner(event), 2 * NEAR);
      if (row === null) return;
      if (event.shiftKey) actions.pick([row], true);
      actions.focus(row);
    });

  function step([dx, dy]) {
    const from = shown.focusRow;
    if (from === null) return;
    const [x, y] = placeOf(from);
    let best = null;
    let least = Infinity;
    for (const row of shown.model.rows) {
      const [px, py] = placeOf(row);
      const along = (px - x) * dx + (py - y) * dy;
      const aside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      const distance = Math.hypot(along, aside);
      if (along > 0.5 && aside <= 1.5 * along && distance < least && distance > 3)
        [best, least] = [row, distance];
    }
    if (best !== null) actions.focus(best);
  }

  holder.addEventListener("keydown", (event) => {
    if (!shown || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      "+": () => inside.call(zooming.scaleBy, 1.6),
      "=": () => inside.call(zooming.scaleBy, 1.6),
      "-": () => inside.call(zooming.scaleBy, 1 / 1.6),
      0: () => applyView(null),
      Enter: () => shown.focusRow !== null && actions.pick([shown.focusRow], true),
      Escape: () => actions.drop(),
    };
    const run = STEPS[event.key] ? () => step(STEPS[event.key]) : keys[event.key];
    if (!run) return;
    event.preventDefault();
    run();
    if ("+-=0".includes(event.key)) actions.view(viewOf(transform));
  });

  new ResizeObserver(resize).observe(holder);
  resize();

  return {
    /** Shows a model; `places` are remade only if the axes changed. */
    show({ model, state, view, colours, focusRow, ringedRows, pickedRows, zoomed }) {
      const all = shown && shown.model.table === model.table && shown.model.other === model.other;
      const same =
        all && ["x", "y", "xlog", "ylog"].every((key) => shown.state[key] === state[key]);
      let { x, y, places } = same ? shown : {};
      if (!same) {
        const rows = [...model.table.keys.keys()].filter(model.hasPoint);
        x = unitScale(model.xValues, rows, state.xlog);
        y = unitScale(model.yValues, rows, state.ylog);
        places = new Float32Array(2 * model.xValues.length);
        for (let row = 0; row < model.xValues.length; row++) {
          const drawn =
            model.hasPoint(row) &&
            !(state.xlog && model.xValues[row] <= 0) &&
            !(state.ylog && model.yValues[row] <= 0);
          places[2 * row] = drawn ? x(model.xValues[row]) : -9;
          places[2 * row + 1] = drawn ? 1 - y(model.yValues[row]) : -9;
        }
      }
      shown = { model, state, view, focusRow, ringedRows, pickedRows, x, y, places };
      scatter.setPoints(places, colours, drawOrder(model.pass));
      if (zoomed !== undefined) applyView(zoomed);
      render();
    },
    setBoxMode(on) {
      boxMode = on;
      holder.classList.toggle("boxing", on);
    },
    setView: applyView,
  };
}
