// Starts the page, and shows its state whenever that changes.

import { colourBytes, colourScale, colourValues } from "./colours.js";
import { loadCatalogue, loadTable } from "./data.js";
import { showDetails } from "./details.js";
import { byId, make, setOptions } from "./dom.js";
import { save } from "./exporting.js";
import { showFilters } from "./filter_panel.js";
import { isFiltered } from "./filters.js";
import { capitalised, columnTitle, formatCount, formatFigure, titleOf } from "./format.js";
import { listRows, showLists } from "./lists.js";
import { bestRow, derive } from "./model.js";
import { createPlot } from "./plot.js";
import { compareWith, createStore, fromFragment, moveTo, toFragment } from "./state.js";
import { createTheme, currentTheme } from "./theme.js";
import { withViews } from "./views.js";

const PLACE_KEYS = ["table", "other", "x", "y", "xlog", "ylog"];
const FILTER_KEYS = ["table", "uses", "dropped", "ranges"];
const POINT_KEYS = [...PLACE_KEYS, ...FILTER_KEYS];
const TICKS = ["front", "xlog", "ylog"];
const PHONE = window.matchMedia("(max-width: 1080px)");

/** Returns where a table's figures come from, and what is to know about them. */
function provenance({ name, metric, origin, source, licence, notes }) {
  return [`${name}: ${metric}, ${origin}`, source.title, licence, ...notes]
    .filter(Boolean)
    .join(" · ");
}

function complain(error) {
  byId("problem").textContent = error.message;
  byId("problem").hidden = false;
}

async function start() {
  const catalogue = await withViews(await loadCatalogue());
  const tables = new Map(catalogue.tables.map((table) => [table.name, table]));
  const store = createStore(fromFragment(location.hash, catalogue));
  let model = null;
  let colours = null;
  let ringedRows = [];
  let latest = 0;
  let lastShown = null;

  const viewNow = () => catalogue.viewOf(model.table.name);
  const rowOf = (key) => model.table.rowOf.get(key);
  const pickedRows = () =>
    store
      .get()
      .picked.map(rowOf)
      .filter((row) => row !== undefined);
  const chosenRow = () => (store.get().focus === null ? undefined : rowOf(store.get().focus));
  const focusRow = () => chosenRow() ?? bestRow(model) ?? null;

  const actions = {
    focus: (row) => store.set({ focus: model.table.keys[row] }),
    pick(rows, toggles) {
      const { picked } = store.get();
      const keys = rows.map((row) => model.table.keys[row]);
      const drops = toggles && keys.every((key) => picked.includes(key));
      const next = drops
        ? picked.filter((key) => !keys.includes(key))
        : [...new Set([...picked, ...keys])];
      store.set({ picked: next, list: "picked" });
    },
    drop: () => store.set({ picked: [] }),
    view: (view) => store.set({ view }),
  };
  const listActions = {
    focus: (key) => store.set({ focus: key }),
    list: (list) => store.set({ list }),
  };
  loadTable(tables.get(store.get().table)).catch(complain);
  const plot = createPlot(actions);

  function showChoices(state) {
    const table = tables.get(state.table);
    const upper = tables.get(state.other) ?? table;
    const metrics = (owner) =>
      owner.columns
        .filter((column) => column.is_metric)
        .map((column) => [column.name, columnTitle(column)]);
    const view = catalogue.viewOf(state.table);
    const named = (kind) =>
      catalogue.tables
        .filter((entry) => entry.kind === kind)
        .map(({ name, origin }) => [name, titleOf(name, origin)]);
    const groups = catalogue.kinds.map(({ name, many }) => [capitalised(many), named(name)]);
    setOptions(byId("table"), groups, state.table);
    setOptions(byId("x"), metrics(table), state.x);
    setOptions(byId("y"), metrics(upper), state.y);
    setOptions(
      byId("other"),
      [["", "nothing"], ...named(table.kind).filter(([name]) => name !== state.table)],
      state.other,
    );
    byId("compare").hidden = !view.comparable;
    setOptions(byId("colour"), view.colours(table, metrics(table)), state.colour);
    byId("ringed").textContent = view.ringed;
    byId("ringed").parentElement.hidden = view.ringed === null;
    for (const key of TICKS) byId(key).checked = state[key];
    byId("reset-view").hidden = state.view === null;
  }

  function showStatus(state) {
    const parts = [
      `${formatCount(model.rows.length)} of ${formatCount(model.table.keys.length)} ${viewNow().many}`,
    ];
    if (state.front)
      parts.push(
        model.directed
          ? `${formatCount(model.front.length)} on the front`
          : "no front: neither way is better for one axis",
      );
    byId("status").textContent = parts.join(" · ");
    byId("provenance").textContent = [model.table, model.other]
      .filter(Boolean)
      .map(provenance)
      .join(" — ");
  }

  /** Says how alike two tables are, if their view can. */
  async function showAgreement(state) {
    const place = byId("agreement");
    place.hidden = true;
    place.textContent = "";
    if (!model.other) return;
    const said = await viewNow().agreement(state, model);
    if (said === null || PLACE_KEYS.some((key) => lastShown[key] !== state[key])) return;
    place.hidden = false;
    place.textContent = said;
  }

  function showLegend(values, scale) {
    const { title, discrete } = values;
    const css = (value) => `rgb(${scale.shade(value).join(" ")})`;
    const swatch = (value) => {
      const box = make("i", {});
      box.style.background = css(value);
      return box;
    };
    const items = discrete
      ? discrete.map(([value, name]) => make("span", {}, swatch(value), name))
      : [
          make("span", {}, formatFigure(scale.low)),
          gradient(css, scale),
          make("span", {}, formatFigure(scale.high)),
        ];
    byId("legend").replaceChildren(make("b", {}, title), ...items);
  }

  function gradient(css, { low, high }) {
    const bar = make("i", { class: "gradient" });
    const stops = Array.from({ length: 9 }, (_, step) => css(low + ((high - low) * step) / 8));
    bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
    return bar;
  }

  function colourPoints(state) {
    const values = colourValues(state.colour, model.table, viewNow());
    const scale = colourScale(values, currentTheme());
    colours = colourBytes(values.values, scale, model.pass, currentTheme());
    showLegend(values, scale);
  }

  function showPlot(state, zoomed) {
    plot.show({
      model,
      state,
      view: viewNow(),
      colours,
      focusRow: focusRow(),
      ringedRows,
      pickedRows: pickedRows(),
      zoomed,
    });
  }

  function showRow(state) {
    const row = focusRow();
    const key = row === null ? null : model.table.keys[row];
    ringedRows = [];
    showDetails(
      { model, row, picked: state.picked.includes(key), chosen: chosenRow() !== undefined },
      {
        view: viewNow(),
        focus: (next) => store.set({ focus: next }),
        pick: (picked) => actions.pick([picked], true),
        table: (name) => store.set({ ...moveTo(store.get(), catalogue, name), focus: key }),
        ring(of, keys) {
          if (focusRow() === null || model.table.keys[focusRow()] !== of) return;
          ringedRows = keys.map(rowOf).filter(model.hasPoint);
          showPlot(store.get());
        },
      },
    );
  }

  async function show(state) {
    const turn = ++latest;
    const before = lastShown;
    const changed = (...keys) => before === null || keys.some((key) => state[key] !== before[key]);
    showChoices(state);
    const newPoints = changed(...POINT_KEYS);
    if (newPoints) {
      const [table, other] = await Promise.all([
        loadTable(tables.get(state.table)),
        state.other ? loadTable(tables.get(state.other)) : null,
      ]);
      if (turn !== latest) return;
      model = derive(state, table, other, catalogue.viewOf(state.table));
    }
    lastShown = state;
    if (newPoints || changed("colour")) colourPoints(state);
    if (newPoints || changed("focus", "picked")) showRow(state);
    if (newPoints || changed("colour", "focus", "picked", "front")) {
      showPlot(state, changed(...PLACE_KEYS) ? state.view : undefined);
    }
    if (newPoints || changed("front")) showStatus(state);
    if (changed(...PLACE_KEYS)) showAgreement(state).catch(complain);
    if (newPoints || changed("focus", "picked", "list")) {
      showLists(
        { state, model, view: viewNow(), pickedRows: pickedRows(), focusRow: focusRow() },
        listActions,
      );
    }
    if (changed(...FILTER_KEYS)) showFilters(state, model.table, viewNow(), store.set);
    byId("problem").hidden = true;
    document.body.classList.toggle("filtered", isFiltered(state));
    document.body.dataset.ready = "yes";
    document.title = `${state.table}: ${state.y} by ${state.x} – GraphTab explorer`;
  }

  store.listen((state) => {
    history.replaceState(null, "", toFragment(state, catalogue));
    show(state).catch(complain);
  });
  window.addEventListener("hashchange", () => {
    const state = fromFragment(location.hash, catalogue);
    store.set(state);
    plot.setView(state.view);
  });

  byId("choices").addEventListener("change", ({ target }) => {
    const state = store.get();
    const changes = {
      table: () => moveTo(state, catalogue, target.value),
      other: () =>
        target.value
          ? compareWith(state, catalogue, target.value)
          : { ...moveTo(state, catalogue, state.table), ranges: state.ranges },
      x: () => ({ x: target.value, view: null }),
      y: () => ({ y: target.value, view: null }),
      colour: () => ({ colour: target.value }),
    };
    store.set(changes[target.id]());
  });
  byId("choices").addEventListener("submit", (event) => event.preventDefault());
  for (const key of TICKS) {
    byId(key).addEventListener("change", ({ target }) =>
      store.set({ [key]: target.checked, ...(key === "front" ? {} : { view: null }) }),
    );
  }
  byId("box").addEventListener("change", ({ target }) => plot.setBoxMode(target.checked));
  byId("reset-view").addEventListener("click", () => {
    plot.setView(null);
    store.set({ view: null });
  });
  byId("help").addEventListener("click", () => byId("keys").showModal());
  document.querySelectorAll("[data-format]").forEach((button) =>
    button.addEventListener("click", () => {
      const state = store.get();
      const rows = listRows(state.list, model, pickedRows());
      save(button.dataset.format, state, model, rows, viewNow()).catch(complain);
    }),
  );
  byId("filter-fold").open = !PHONE.matches;
  createTheme(byId("theme"), () => {
    if (!model) return;
    colourPoints(store.get());
    showPlot(store.get());
  });
  await show(store.get());
}

start().catch(complain);
