// What the page has to say beside the figures: faults, and what could not be done as asked.

import { byId } from "./dom.js";

/** Says what went wrong, until the next step that goes well. */
export function complain(error) {
  byId("problem").textContent = error.message;
  byId("problem").hidden = false;
}

/** Says what a person must know of the view, in sentences; none hide the line. */
export function say(sentences) {
  byId("notice").textContent = sentences.join(" ");
  byId("notice").hidden = !sentences.length;
}
