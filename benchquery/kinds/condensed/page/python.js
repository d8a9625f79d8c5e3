// Configurations as Python code.

import { literal } from "../../query_code.js";

/** Returns the call that makes a configuration, from its text as tables have it. */
export function pythonOf(name, text) {
  const values = Object.entries(JSON.parse(text)).filter(([key]) => key !== "recipe");
  return `${name}(${values.map(([key, value]) => `${key}=${literal(value)}`).join(", ")})`;
}
