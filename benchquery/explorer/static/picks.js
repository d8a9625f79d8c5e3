// Many picked rows in little room: one bit a row, written in letters that addresses may have.

const SIX_BITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Returns rows as text; `total` is how many rows there are. */
export function packRows(rows, total) {
  const digits = new Uint8Array(Math.ceil(total / 6));
  for (const row of rows) digits[Math.floor(row / 6)] |= 1 << (row % 6);
  return Array.from(digits, (digit) => SIX_BITS[digit]).join("");
}

/** Returns the rows of a text; null if it is none for so many rows. */
export function unpackRows(text, total) {
  if (text.length !== Math.ceil(total / 6)) return null;
  const rows = [];
  for (let place = 0; place < text.length; place++) {
    const digit = SIX_BITS.indexOf(text[place]);
    if (digit < 0) return null;
    for (let bit = 0; bit < 6; bit++) if (digit & (1 << bit)) rows.push(6 * place + bit);
  }
  return rows.length && rows.at(-1) >= total ? null : rows;
}
