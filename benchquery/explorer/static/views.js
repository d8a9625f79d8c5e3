// Views: what the page knows of each kind of table. All else is the same for every kind.
//
// A kind may bring a folder of modules, which stands at kinds/KIND/ beside this one. Its view.js
// exports createView(kind, catalogue), where `kind` is what the catalogue says of it, `facts`
// among it; kinds without one have the view of generic_view.js. A view has
//   one, many            what a row is called
//   ringed               what the rings in the plot mean; null if there are none
//   comparable           whether tables of this kind can be set against each other
//   agreement(state, model)    a promise of how alike two such tables are, in a line, or null
//   start(table, metrics)      axes, colour and list of a newcomer
//   readKey(text)        a row's key as an address has it; null if it is none
//   nameOf(key)          a row's key as lists write it
//   names(table)         what names rows beside the key, for exports: `name` and `valueOf(row)`
//   uses, usesTitle      what a row may use or not use, and what that is called
//   usedIn(table)        a function of row and use that tells whether the row uses it
//   choiceNames(table)   the names of what is chosen among; needs no figures
//   choices(table)       for each of these `name`, `title`, `values`, `valueOf(row)` and, for
//                        buttons, `content(value)` and `hint(value)`; values are texts
//   colours(table, metrics)    what points can be coloured by, as `[name, title]`
//   colourOf(name, table)      the values of such a colour that is no metric
//   headings(table), cells(table, row)    what lists say beside the figures: the heading of the
//                        key first, which has no cell
//   tooltip(table, row)  `title` and `facts`
//   find(table, text)    a promise of the rows that a text names; `findHint` says what it takes
//   panes                ways to look at a table beside those of panes.js
//   python(state, model, rows)       code that opens the same rows
//   details(shown, actions)          the sections of the panel of one row

import { createView as createGenericView } from "./generic_view.js";

/** Makes the view of a kind; one whose script fails is shown as kinds without one are. */
async function makeView(kind, catalogue) {
  if (!kind.has_script) return createGenericView(kind, catalogue);
  try {
    const script = await import(`./kinds/${encodeURIComponent(kind.name)}/view.js`);
    return script.createView(kind, catalogue);
  } catch (error) {
    console.error(`the view of ${kind.many} can't be made`, error);
    return createGenericView(kind, catalogue);
  }
}

/** Returns the catalogue with `viewOf`, from a table's name to its view. */
export async function withViews(catalogue) {
  const views = await Promise.all(
    catalogue.kinds.map(async (kind) => [kind.name, await makeView(kind, catalogue)]),
  );
  const ofKind = new Map(views);
  const ofTable = new Map(catalogue.tables.map(({ name, kind }) => [name, ofKind.get(kind)]));
  return { ...catalogue, viewOf: (name) => ofTable.get(name) };
}
