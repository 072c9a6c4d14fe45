// The field for the path of a config: it is invalid while the reason why its path was not opened stands below it.

const [FIELD, PROBLEM] = ["#open-path input, #open-path textarea", "open-problem"];

/** For an event's output: another path, so nothing is wrong with it yet. */
export const cleared = () => "";

/** @param {string} problem as HTML; "" for none */
export function marked(problem) {
  const field = document.querySelector(FIELD);
  field?.setAttribute("aria-invalid", String(Boolean(problem)));
  field?.setAttribute("aria-describedby", PROBLEM);
}
