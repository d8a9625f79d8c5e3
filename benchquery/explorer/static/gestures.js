// Gestures of mouse, pen and fingers, as what they ask for: move, zoom, a box, a tap, a look.

const STILL = 4;
const SETTLED = 200;
const WHEEL = { 0: 0.002, 1: 0.05, 2: 1 };

const middle = (a, b) => a.map((part, axis) => (part + b[axis]) / 2);
const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);

/**
 * Listens to an element. Places are pixels from its corner.
 *
 * @param asked `axesAt(place)`: "xy", "x" or "y", what a zoom there changes, or null where there is
 *   nothing; `boxAt(event)`: what a box drawn by this drag is for, null if the drag moves.
 * @param actions `look(place)` and `leave()` of a mouse, `tap(place, event)`, `move(dx, dy)`,
 *   `zoom(factor, place, axes)`, `settle()` once a movement has ended, `box(purpose, from, to)` while
 *   one is drawn, and `boxed(purpose, from, to)`; that one has nulls for the places if it was given up.
 */
export function listen(element, asked, actions) {
  const pointers = new Map();
  let box = null;
  let dragged = false;
  let settling = 0;

  const placeOf = (event) => {
    const { left, top } = element.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  function start(event) {
    if (event.button) return;
    const place = placeOf(event);
    if (!asked.axesAt(place)) return;
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { start: place, place, axes: asked.axesAt(place) });
    dragged = pointers.size > 1;
    const purpose = pointers.size === 1 ? asked.boxAt(event) : null;
    box = purpose && { purpose, from: place };
  }

  function follow(event) {
    const place = placeOf(event);
    const pointer = pointers.get(event.pointerId);
    if (!pointer) {
      if (event.pointerType === "mouse") actions.look(place);
      return;
    }
    dragged ||= distance(pointer.start, place) > STILL;
    if (!dragged) return;
    if (box) actions.box(box.purpose, box.from, place);
    else if (pointers.size === 1) {
      actions.move(
        pointer.axes.includes("x") ? place[0] - pointer.place[0] : 0,
        pointer.axes.includes("y") ? place[1] - pointer.place[1] : 0,
      );
    } else pinch(event.pointerId, place);
    pointer.place = place;
  }

  function pinch(id, place) {
    const [other] = [...pointers].filter(([key]) => key !== id).map(([, pointer]) => pointer.place);
    const before = pointers.get(id).place;
    const [from, to] = [middle(before, other), middle(place, other)];
    actions.move(to[0] - from[0], to[1] - from[1]);
    const apart = distance(before, other);
    if (apart > STILL) actions.zoom(distance(place, other) / apart, to, "xy");
  }

  function stop(event) {
    const pointer = pointers.get(event.pointerId);
    if (!pointers.delete(event.pointerId)) return;
    const cancelled = event.type === "pointercancel";
    if (box) {
      const drawn = dragged && !cancelled;
      actions.boxed(box.purpose, ...(drawn ? [box.from, placeOf(event)] : [null, null]));
      box = null;
    } else if (dragged && !pointers.size) actions.settle();
    if (!dragged && !cancelled && pointer.axes === "xy") actions.tap(pointer.place, event);
  }

  function turn(event) {
    const place = placeOf(event);
    const axes = asked.axesAt(place);
    if (!axes) return;
    event.preventDefault();
    const speed = WHEEL[event.deltaMode] * (event.ctrlKey ? 10 : 1);
    actions.zoom(2 ** (-event.deltaY * speed), place, axes);
    clearTimeout(settling);
    settling = setTimeout(actions.settle, SETTLED);
  }

  element.addEventListener("pointerdown", start);
  element.addEventListener("pointermove", follow);
  element.addEventListener("pointerup", stop);
  element.addEventListener("pointercancel", stop);
  element.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType === "mouse") actions.leave();
  });
  element.addEventListener("wheel", turn, { passive: false });
}
