// Light or dark: as the system says, or as the person chose.

const KEY = "graphtab-theme";
const NEXT = { auto: "dark", dark: "light", light: "auto" };
const system = window.matchMedia("(prefers-color-scheme: dark)");

function stored() {
  try {
    return localStorage.getItem(KEY) ?? "auto";
  } catch {
    return "auto";
  }
}

/** Makes a button switch the theme; `changed()` is called when the colours change. */
export function createTheme(button, changed) {
  let choice = NEXT[stored()] ? stored() : "auto";
  const apply = () => {
    document.documentElement.dataset.theme =
      choice === "auto" ? (system.matches ? "dark" : "light") : choice;
    button.textContent = { auto: "◐ Auto", dark: "● Dark", light: "○ Light" }[choice];
    button.setAttribute("aria-label", `Theme: ${choice}`);
    changed();
  };
  button.addEventListener("click", () => {
    choice = NEXT[choice];
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

/** Returns the theme that is shown: light or dark. */
export function currentTheme() {
  return document.documentElement.dataset.theme;
}
