// The plot: points, axes and marks, and what gestures and keys in it do.

import { select } from "./vendor/d3.js";
import { createAxes, placesOf, unitScale } from "./axes.js";
import { cssColour } from "./colours.js";
import { byId, makeSvg } from "./dom.js";
import { listen } from "./gestures.js";
import { createScatter } from "./scatter.js";
import { announce, hideTooltip, showTooltip } from "./tooltip.js";
import { WHOLE, around, inBox, isWhole, moved, zoomed } from "./viewport.js";

const MARGIN = { top: 14, right: 16, bottom: 46, left: 64 };
const NEAR = 14;
const THIN = 14;
const KEY_ZOOM = 1.6;
const STRIDE = 1_000_003;
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

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
 * @param actions What gestures ask for: `focus(row)`, `walk(row)` for a step by keys,
 *   `pick(rows, toggles)`, `drop()`, `view(part, isMovement)`.
 */
export function createPlot(actions) {
  const holder = byId("plot");
  const svg = select(byId("overlay"));
  const canvas = byId("points");
  const scatter = createScatter(canvas);
  const drawAxes = createAxes(svg, MARGIN);
  const inside = svg.append("svg").attr("class", "inside");
  inside.append("rect").attr("class", "ground").attr("width", "100%").attr("height", "100%");
  const trailLine = inside.append("path").attr("class", "trail-line");
  const trailDots = inside.append("g");
  const ringedDots = inside.append("g");
  const frontLine = inside.append("path").attr("class", "front-line");
  const frontDots = inside.append("g");
  const focusDot = inside.append("g");
  const boxRect = inside.append("rect").attr("class", "drag-box").attr("visibility", "hidden");

  let shown = null;
  let size = { width: 0, height: 0 };
  let part = WHOLE;
  let mode = "move";
  let frame = 0;
  byId("plot-note").textContent = scatter.note ?? "";

  // ---------------------------------------------------------------- places

  /** Returns where a row is drawn, in pixels of the inner area. */
  function placeOf(row) {
    const [left, right, top, bottom] = part;
    return [
      ((shown.places[2 * row] - left) / (right - left)) * size.width,
      ((shown.places[2 * row + 1] - top) / (bottom - top)) * size.height,
    ];
  }

  const isInside = ([x, y]) => x >= -9 && y >= -9 && x <= size.width + 9 && y <= size.height + 9;
  const innerOf = ([x, y]) => [x - MARGIN.left, y - MARGIN.top];
  const shareOf = ([x, y]) => [x / size.width, y / size.height];

  function nearest([x, y], limit) {
    let best = null;
    let least = limit * limit;
    for (const row of shown.model.rows) {
      const [px, py] = placeOf(row);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least) [best, least] = [row, distance];
    }
    return best;
  }

  // ---------------------------------------------------------------- drawing

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

  function drawMarks() {
    const { model, state, focusRow, ringedRows, trail } = shown;
    const front = state.front ? model.front : [];
    const steps = front.map(placeOf).map(([x, y]) => `H${x.toFixed(1)}V${y.toFixed(1)}`);
    const [start] = front.map(placeOf);
    frontLine.attr("d", start ? `M${start.join(" ")}${steps.join("")}` : null);
    dots(frontDots, front, "front-dot", 4.5);
    dots(ringedDots, ringedRows, "ringed-dot", 4.5);
    const isOut = focusRow !== null && !model.pass[focusRow];
    dots(focusDot, focusRow === null ? [] : [focusRow], `focus-dot${isOut ? " out" : ""}`, 8);
    const line = trail.best.map(placeOf).map((place) => place.map((pixel) => pixel.toFixed(1)));
    trailLine.attr("d", line.length ? `M${line.join("L")}` : null);
    dots(trailDots, trail.rows, "trail-dot", 4);
  }

  function render() {
    frame = 0;
    if (!shown) return;
    scatter.setPart(part);
    drawAxes(shown, part, size);
    drawMarks();
  }

  function setPart(next) {
    part = next ?? WHOLE;
    holder.classList.toggle("zoomed", !isWhole(part));
    hideTooltip();
    if (!frame) frame = requestAnimationFrame(render);
  }

  const viewNow = () => (isWhole(part) ? null : part);

  function resize() {
    const { clientWidth, clientHeight } = holder;
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
    render();
    scatter.redraw();
  }

  // ---------------------------------------------------------------- gestures

  function tell(row) {
    const [x, y] = placeOf(row);
    showTooltip(row, [MARGIN.left + x, MARGIN.top + y], shown);
  }

  /** Returns a box as [left, right, top, bottom] in pixels of the inner area. */
  function boxOf(from, to) {
    const [[ax, ay], [bx, by]] = [innerOf(from), innerOf(to)];
    return [Math.min(ax, bx), Math.max(ax, bx), Math.min(ay, by), Math.max(ay, by)];
  }

  /** Returns a box to zoom to: one that is thin spans the other axis. */
  function zoomBoxOf(from, to) {
    const [left, right, top, bottom] = boxOf(from, to);
    if (bottom - top < THIN) return [left, right, 0, size.height];
    if (right - left < THIN) return [0, size.width, top, bottom];
    return [left, right, top, bottom];
  }

  const BOXES = {
    zoom(from, to) {
      const [left, right, top, bottom] = zoomBoxOf(from, to);
      const { width, height } = size;
      setPart(inBox(part, [left / width, right / width, top / height, bottom / height]));
      actions.view(viewNow(), false);
    },
    pick(from, to) {
      const [left, right, top, bottom] = boxOf(from, to);
      const rows = shown.model.rows.filter((row) => {
        const [x, y] = placeOf(row);
        return x >= left && x <= right && y >= top && y <= bottom;
      });
      actions.pick(rows, false);
    },
  };

  listen(
    byId("overlay"),
    {
      axesAt(place) {
        const [x, y] = innerOf(place);
        if (!shown || x > size.width || y < 0) return null;
        if (x < 0) return y <= size.height ? "y" : null;
        return y <= size.height ? "xy" : "x";
      },
      boxAt(event) {
        if (event.shiftKey) return "pick";
        if (event.ctrlKey || event.metaKey) return "zoom";
        return mode === "move" ? null : mode;
      },
    },
    {
      look(place) {
        const row = shown && nearest(innerOf(place), NEAR);
        if (row === null) hideTooltip();
        else tell(row);
      },
      leave: hideTooltip,
      tap(place, event) {
        const row = nearest(innerOf(place), 2 * NEAR);
        if (row === null) return;
        if (event.shiftKey) actions.pick([row], true);
        actions.focus(row);
        if (event.pointerType !== "mouse") tell(row);
      },
      move: (dx, dy) => setPart(moved(part, dx / size.width, dy / size.height)),
      zoom: (factor, place, axes) => setPart(zoomed(part, factor, shareOf(innerOf(place)), axes)),
      settle: () => actions.view(viewNow(), true),
      box(purpose, from, to) {
        const [left, right, top, bottom] = (purpose === "zoom" ? zoomBoxOf : boxOf)(from, to);
        boxRect
          .attr("visibility", null)
          .attr("x", left)
          .attr("y", top)
          .attr("width", right - left)
          .attr("height", bottom - top);
      },
      boxed(purpose, from, to) {
        boxRect.attr("visibility", "hidden");
        if (from) BOXES[purpose](from, to);
      },
    },
  );

  // ---------------------------------------------------------------- keys

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
    if (best === null) return;
    actions.walk(best);
    tell(best);
    announce(best, shown);
  }

  function fit() {
    setPart(around(shown.places, shown.model.rows));
    actions.view(viewNow(), false);
  }

  function reset() {
    setPart(WHOLE);
    actions.view(null, false);
  }

  function zoomByKey(factor, axes) {
    const place =
      shown.focusRow === null ? [0.5, 0.5] : shareOf(placeOf(shown.focusRow)).map(clampShare);
    setPart(zoomed(part, factor, place, axes));
    actions.view(viewNow(), true);
  }

  const clampShare = (share) => Math.min(1, Math.max(0, share));

  const KEYS = {
    "+": () => zoomByKey(KEY_ZOOM, "xy"),
    "=": () => zoomByKey(KEY_ZOOM, "xy"),
    "-": () => zoomByKey(1 / KEY_ZOOM, "xy"),
    x: () => zoomByKey(KEY_ZOOM, "x"),
    X: () => zoomByKey(1 / KEY_ZOOM, "x"),
    y: () => zoomByKey(KEY_ZOOM, "y"),
    Y: () => zoomByKey(1 / KEY_ZOOM, "y"),
    f: fit,
    0: reset,
    Enter: () => shown.focusRow !== null && actions.pick([shown.focusRow], true),
    Escape: () => actions.drop(),
  };

  holder.addEventListener("keydown", (event) => {
    if (!shown || event.ctrlKey || event.metaKey || event.altKey) return;
    const run = STEPS[event.key] ? () => step(STEPS[event.key]) : KEYS[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });

  new ResizeObserver(resize).observe(holder);
  resize();

  return {
    /**
     * Shows a model; places are made anew only if the axes changed. `trail` is what a search asked
     * for: its `rows`, and the `best` of them in turn.
     */
    show({ model, state, view, colours, focusRow, ringedRows, pickedRows, trail, zoomed: next }) {
      const all = shown && shown.model.table === model.table && shown.model.other === model.other;
      const same =
        all && ["x", "y", "xlog", "ylog"].every((key) => shown.state[key] === state[key]);
      let { x, y, places } = same ? shown : {};
      if (!same) {
        const rows = [...model.table.keys.keys()].filter(model.hasPoint);
        x = unitScale(model.xValues, rows, state.xlog);
        y = unitScale(model.yValues, rows, state.ylog);
        places = placesOf(model, x, y, state);
      }
      shown = { model, state, view, focusRow, ringedRows, trail, x, y, places };
      scatter.setPoints(places, colours, drawOrder(model.pass));
      scatter.setPicked(Uint32Array.from(pickedRows), cssColour("--accent"));
      if (next !== undefined) setPart(next);
      render();
    },
    setMode(next) {
      mode = next;
      holder.dataset.mode = mode;
    },
    setView: setPart,
    fit,
    reset,
    /** Draws the points at once, so that a picture can be taken of them. */
    drawNow: scatter.drawNow,
  };
}
