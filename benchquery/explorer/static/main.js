// Starts the page, and shows its state whenever that changes.

import { colourBytes, colourScale, colourValues } from "./colours.js";
import { loadCatalogue, loadTable } from "./data.js";
import { showDetails } from "./details.js";
import { byId } from "./dom.js";
import { save } from "./exporting.js";
import { showFilters } from "./filter_panel.js";
import { isFiltered } from "./filters.js";
import { formatCount } from "./format.js";
import { TICKS, showChoices } from "./header.js";
import { showLegend } from "./legend.js";
import { listRows, showLists } from "./lists.js";
import { bestRow, derive } from "./model.js";
import { complain, say } from "./notices.js";
import { paneOf, showPane } from "./panes.js";
import { savePicture } from "./picture.js";
import { createPlot } from "./plot.js";
import {
  compareWith,
  createStore,
  fromFragment,
  isTooMuch,
  missingTable,
  moveTo,
  toFragment,
  unpackPicks,
} from "./state.js";
import { createTheme, currentTheme } from "./theme.js";
import { withViews } from "./views.js";

const PLACE_KEYS = ["table", "other", "x", "y", "xlog", "ylog"];
const FILTER_KEYS = ["table", "uses", "dropped", "ranges"];
const POINT_KEYS = [...PLACE_KEYS, ...FILTER_KEYS];
const PANE_KEYS = ["pane", "options", "picked", "focus", "colour"];
const NO_TRAIL = { rows: [], best: [] };
const PHONE = window.matchMedia("(max-width: 1080px)");

/** Returns where a table's figures come from, and what is to know about them. */
function provenance({ name, metric, origin, source, licence, notes }) {
  return [`${name}: ${metric}, ${origin}`, source.title, licence, ...notes]
    .filter(Boolean)
    .join(" · ");
}

async function start() {
  const catalogue = await withViews(await loadCatalogue());
  const tables = new Map(catalogue.tables.map((table) => [table.name, table]));
  const store = createStore(fromFragment(location.hash, catalogue));
  let model = null;
  let colours = null;
  let ringedRows = [];
  let foundRows = [];
  let trail = NO_TRAIL;
  let missing = missingTable(location.hash, catalogue);
  let strangePicks = false;
  let latest = 0;
  let lastShown = null;
  let lastStep = {};

  const viewNow = () => catalogue.viewOf(model.table.name);
  const rowOf = (key) => model.table.rowOf.get(key);
  const isRow = (row) => row !== undefined;
  const pickedRows = () => store.get().picked.map(rowOf).filter(isRow);
  const chosenRow = () => (store.get().focus === null ? undefined : rowOf(store.get().focus));
  const focusRow = () => chosenRow() ?? bestRow(model) ?? null;

  const shownNow = () => ({
    catalogue,
    state: store.get(),
    model,
    view: viewNow(),
    colours,
    focusRow: focusRow(),
    ringedRows,
    pickedRows: pickedRows(),
    foundRows,
    trail,
    option: (name, usual) => store.get().options[name] ?? usual,
  });

  const plotActions = {
    focus: (row) => store.set({ focus: model.table.keys[row] }),
    walk: (row) => store.set({ focus: model.table.keys[row] }, { joins: "walk" }),
    pick(rows, toggles) {
      const picked = new Set(store.get().picked);
      const keys = rows.map((row) => model.table.keys[row]);
      const drops = toggles && keys.every((key) => picked.has(key));
      for (const key of keys) {
        if (drops) picked.delete(key);
        else picked.add(key);
      }
      store.set({ picked: [...picked], packed: null, list: "picked" });
    },
    drop: () => store.set({ picked: [], packed: null }),
    view: (view, isMovement) => store.set({ view }, isMovement ? { joins: "view" } : {}),
  };
  const listActions = {
    focus: (key) => store.set({ focus: key }),
    list: (list) => store.set({ list }),
    sort: (sort) => store.set({ sort }),
  };
  const paneActions = {
    focus: listActions.focus,
    set: (patch) => store.set(patch),
    option: (name, value) =>
      store.set({ options: { ...store.get().options, [name]: value } }, { joins: `o.${name}` }),
    trail(rows, best) {
      trail = { rows, best };
      showPlot();
    },
  };
  loadTable(tables.get(store.get().table)).catch(complain);
  const plot = createPlot(plotActions);

  function showStatus(state) {
    const parts = [
      `${formatCount(model.rows.length)} of ${formatCount(model.table.keys.length)} ${viewNow().many}`,
    ];
    if (state.front && paneOf(state, viewNow(), model.table).withPlot)
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

  /** Says what of an address could not be shown, or can't be kept in one. */
  function showNotices(state) {
    say(
      [
        missing === null ? null : `There is no table “${missing}”; this is ${state.table}.`,
        strangePicks
          ? "The address picks rows of another version of the table, so nothing is picked."
          : null,
        isTooMuch(state, model.table)
          ? "The address has no room for so many picked rows: export the list to keep them."
          : null,
      ].filter(Boolean),
    );
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

  function colourPoints(state) {
    const values = colourValues(state.colour, model.table, viewNow());
    const scale = colourScale(values, currentTheme());
    colours = colourBytes(values.values, scale, model.pass, currentTheme());
    showLegend(values, scale);
  }

  function showPlot(zoomed) {
    plot.show({ ...shownNow(), zoomed });
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
        pick: (picked) => plotActions.pick([picked], true),
        table: (name) => store.set({ ...moveTo(store.get(), catalogue, name), focus: key }),
        ring(of, keys) {
          if (focusRow() === null || model.table.keys[focusRow()] !== of) return;
          ringedRows = keys.map(rowOf).filter(isRow).filter(model.hasPoint);
          showPlot();
        },
      },
    );
  }

  /** Loads the tables of a state, while the page says that it is busy. */
  async function load(state) {
    byId("main").setAttribute("aria-busy", "true");
    const waiting = setTimeout(() => {
      byId("status").textContent = `Loading ${state.table}…`;
    }, 300);
    try {
      return await Promise.all([
        loadTable(tables.get(state.table)),
        state.other ? loadTable(tables.get(state.other)) : null,
      ]);
    } finally {
      clearTimeout(waiting);
    }
  }

  /** Puts rows that an address packed in the place of that text. */
  function unpack(state) {
    if (!state.packed) return;
    const picked = unpackPicks(state.packed, model.table);
    strangePicks = picked === null;
    store.set({ picked: picked ?? [], packed: null }, { replaces: true });
  }

  async function find(state) {
    const table = model.table;
    const rows = state.find ? await viewNow().find(table, state.find) : [];
    if (store.get().find !== state.find || model.table !== table) return;
    foundRows = rows;
    showLists(shownNow(), listActions);
  }

  async function show(state) {
    const turn = ++latest;
    const before = lastShown;
    const changed = (...keys) => before === null || keys.some((key) => state[key] !== before[key]);
    showChoices(state, catalogue);
    const newPoints = changed(...POINT_KEYS);
    if (newPoints) {
      const [table, other] = await load(state);
      if (turn !== latest) return;
      model = derive(state, table, other, catalogue.viewOf(state.table));
      if (changed("table")) [trail, foundRows] = [NO_TRAIL, []];
    }
    lastShown = state;
    if (newPoints || changed("colour")) colourPoints(state);
    if (newPoints || changed("focus", "picked")) showRow(state);
    const pane = paneOf(state, viewNow(), model.table);
    if (trail !== NO_TRAIL && changed("pane") && !pane.show) trail = NO_TRAIL;
    if (newPoints || changed("colour", "focus", "picked", "front", "pane")) {
      showPlot(changed(...PLACE_KEYS) ? state.view : undefined);
    }
    if (newPoints || changed("front", "pane")) showStatus(state);
    if (changed(...PLACE_KEYS)) showAgreement(state).catch(complain);
    if (newPoints || changed(...PANE_KEYS)) showPane(shownNow(), paneActions);
    if (newPoints || changed("focus", "picked", "list", "sort", "find")) {
      showLists(shownNow(), listActions);
    }
    if (changed("table", "find")) find(state).catch(complain);
    if (changed(...FILTER_KEYS)) showFilters(state, model, viewNow(), store.set);
    byId("problem").hidden = true;
    showNotices(state);
    document.body.classList.toggle("filtered", isFiltered(state));
    document.body.dataset.ready = "yes";
    document.title = `${state.table}: ${state.y} by ${state.x} – GraphTab explorer`;
    byId("main").setAttribute("aria-busy", "false");
    unpack(state);
  }

  function fail(error) {
    byId("main").setAttribute("aria-busy", "false");
    complain(error);
  }

  store.listen((state, step) => {
    const known = model?.table.name === state.table ? model.table.rowOf : new Map();
    const address = toFragment(state, catalogue, known);
    const goesOn = step.joins !== undefined && step.joins === lastStep.joins;
    if (step.replaces || goesOn) history.replaceState(null, "", address);
    else if (address !== location.hash) history.pushState(null, "", address);
    if (!step.replaces) {
      lastStep = step;
      [missing, strangePicks] = [null, false];
    }
    show(state).catch(fail);
  });
  window.addEventListener("hashchange", () => {
    const state = fromFragment(location.hash, catalogue);
    missing = missingTable(location.hash, catalogue);
    strangePicks = false;
    lastStep = {};
    store.set(state, { replaces: true });
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
  byId("mode").addEventListener("change", ({ target }) => plot.setMode(target.value));
  byId("fit").addEventListener("click", plot.fit);
  byId("reset-view").addEventListener("click", plot.reset);
  byId("find").addEventListener("input", ({ target }) => {
    const list = target.value ? "found" : "best";
    store.set({ find: target.value, list, sort: null }, { joins: "find" });
  });
  byId("find").addEventListener("keydown", ({ key }) => {
    if (key === "Enter" && foundRows.length)
      store.set({ focus: model.table.keys[listRows(shownNow())[0]] });
  });
  byId("help").addEventListener("click", () => byId("keys").showModal());
  document.querySelectorAll("[data-format]").forEach((button) =>
    button.addEventListener("click", () => {
      const shown = shownNow();
      save(button.dataset.format, shown.state, model, listRows(shown), viewNow()).catch(complain);
    }),
  );
  document.querySelectorAll("[data-picture]").forEach((button) =>
    button.addEventListener("click", () => {
      const { table, pane } = store.get();
      const name = `${table}-${pane}`;
      plot.drawNow();
      savePicture(button.dataset.picture, byId("pane-body"), byId("legend"), name).catch(complain);
    }),
  );
  byId("filter-fold").open = !PHONE.matches;
  createTheme(byId("theme"), () => {
    if (!model) return;
    colourPoints(store.get());
    showPlot();
    showPane(shownNow(), paneActions);
  });
  await show(store.get());
}

start().catch(complain);
