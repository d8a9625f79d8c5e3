// A search replayed over the plot, step by step, with its regret against what was spent.

import { make } from "../../dom.js";
import { formatCount, formatFigure } from "../../format.js";
import { drawLines } from "../../line_chart.js";
import { readTraces, regretLines } from "./traces.js";

const MOST_MARKED = 400;
const FRAMES = 80;
const FRAME = 60;

const note = (text) => make("p", { class: "muted" }, text);

/** Makes the pane; it keeps the traces that were opened, and how far the replay is. */
export function createReplayPane(reader) {
  let opened = { table: null, traces: [], chosen: 0, step: 0 };
  let timer = 0;

  function stop() {
    clearInterval(timer);
    timer = 0;
  }

  function fill(place, { model }, actions) {
    const said = make("p", { role: "status" });
    const choose = make("input", {
      type: "file",
      id: "trace-file",
      accept: ".parquet",
      onchange: async ({ target }) => {
        const [file] = target.files;
        if (!file) return;
        try {
          const traces = await readTraces(file, model.table);
          opened = { table: model.table.name, traces, chosen: 0, step: 0 };
          fill(place, { model }, actions);
        } catch (error) {
          said.textContent = error.message;
        }
      },
    });
    const chooser = make("label", { class: "tick" }, "Traces of a search ", choose);
    const { traces } = opened.table === model.table.name ? opened : { traces: [] };
    if (!traces.length) {
      const how = `benchquery search ${model.table.name} --seeds 5 --out traces.parquet`;
      place.replaceChildren(
        make("div", { class: "pane-controls" }, chooser),
        note("Open a file of traces to see a search walk over the plot. To make one:"),
        make("code", {}, how),
        said,
      );
      return;
    }
    const of = "of the test figure of the best found, mean over seeds";
    place.replaceChildren(
      make("div", { class: "pane-controls" }, chooser),
      ...controls({ model, traces, said }, actions),
      said,
      make("h3", {}, "Regret", make("small", {}, of)),
      ...drawLines(regretLines(traces), {
        xTitle: `spent ${traces[0].budget.unit}`,
        yTitle: "regret",
      }),
    );
  }

  function controls({ model, traces, said }, actions) {
    const slider = make("input", {
      type: "range",
      id: "replay-step",
      min: 1,
      "aria-label": "Step",
    });
    const play = make("button", { type: "button", id: "replay-play" }, "▶ Play");

    /** Marks what was asked up to the step, and says what was found. */
    function mark() {
      const { steps, strategy, seed } = traces[opened.chosen];
      const so = steps.slice(0, opened.step + 1);
      const now = so.at(-1);
      const asked = so.slice(-MOST_MARKED).map(({ row }) => row);
      const best = so.map(({ best: row }) => row).filter((row, at, all) => row !== all[at - 1]);
      actions.trail(asked, best);
      slider.value = opened.step + 1;
      const found = reader.shortName(model.table.keys[now.best]);
      said.textContent =
        `${strategy}, seed ${seed}: query ${formatCount(so.length)} of ${formatCount(steps.length)}, ` +
        `best so far ${found}, regret ${formatFigure(now.regret)}`;
    }

    function begin(chosen) {
      opened = { ...opened, chosen, step: traces[chosen].steps.length - 1 };
      slider.max = traces[chosen].steps.length;
      mark();
    }

    slider.addEventListener("input", () => {
      opened = { ...opened, step: Number(slider.value) - 1 };
      mark();
    });
    play.addEventListener("click", () => {
      const last = traces[opened.chosen].steps.length - 1;
      stop();
      opened = { ...opened, step: 0 };
      timer = setInterval(() => {
        mark();
        if (opened.step >= last || !slider.isConnected) stop();
        opened = { ...opened, step: Math.min(last, opened.step + Math.ceil(last / FRAMES)) };
      }, FRAME);
    });
    const select = make(
      "select",
      { "aria-label": "Search", onchange: ({ target }) => begin(Number(target.value)) },
      ...traces.map(({ strategy, seed }, at) =>
        make("option", { value: at, selected: at === opened.chosen }, `${strategy}, seed ${seed}`),
      ),
    );
    begin(opened.chosen);
    return [make("div", { class: "pane-controls" }, select, play, slider)];
  }

  return {
    name: "replay",
    title: "Replay",
    withPlot: true,
    applies: (table) => table.columns.some(({ name }) => name === "perf"),
    show(place, shown, actions) {
      if (place.childElementCount && place.dataset.table === shown.model.table.name) return;
      stop();
      place.dataset.table = shown.model.table.name;
      fill(place, shown, actions);
    },
  };
}
