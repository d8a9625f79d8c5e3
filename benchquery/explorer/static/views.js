// Views: what the page knows of each kind of table. All else is the same for every kind.
//
// A view has
//   one, many            what a row is called
//   ringed               what the rings in the plot mean
//   comparable           whether tables of this kind can be set against each other
//   start(metrics)       axes, colour and list of a newcomer
//   readKey(text)        a row's key as an address has it; null if it is none
//   nameOf(key)          a row's key as lists write it
//   uses                 what a row may use or not use: the operations of architectures
//   usedIn(table)        a function of row and use that tells whether the row uses it
//   choiceNames(table)   the names of what is chosen among; needs no figures
//   choices(table)       for each of these `name`, `title`, `values`, `valueOf(row)` and, for
//                        buttons, `content(value)` and `hint(value)`; values are texts
//   colours(table, metrics)    what points can be coloured by, as `[name, title]`
//   colourOf(name, table)      the values of such a colour that is no metric
//   headings, cells(table, row)      what lists say beside the figures
//   tooltip(table, row)  `title` and `facts`
//   python(state, model, rows)       code that opens the same rows
//   details(shown, actions)          the sections of the panel of one row

import { createArchitectureView } from "./architecture_view.js";
import { createCondensedView } from "./condensed_view.js";

/** Returns the catalogue with `viewOf`, from a table's name to its view. */
export function withViews(catalogue) {
  const views = {
    architectures: createArchitectureView(catalogue),
    condensed: createCondensedView(catalogue),
  };
  const kinds = new Map(catalogue.tables.map(({ name, kind }) => [name, kind]));
  return { ...catalogue, viewOf: (name) => views[kinds.get(name)] };
}
