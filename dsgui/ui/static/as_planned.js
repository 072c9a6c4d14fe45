// Slurm's nodes and GPUs per node are as 1 · Configure plans them until somebody says otherwise in one of them. What
// was typed is known here at once: the server's answer to what was planned before would replace it.

const FIELDS = "#slurm-nodes, #slurm-per-node";
let own = false;

/** Gradio's own changes of a field are no `input` of anybody's. */
export function begin() {
  own = false;
  document.addEventListener("input", ({ target }) => {
    own ||= target instanceof Element && target.closest(FIELDS) !== null;
  });
}

/**
 * What both fields become; what is empty or out of range counts as 1.
 * @param {number} most @param {number | null} nodes @param {number | null} gpus
 */
export function follow(most, nodes, gpus) {
  return own ? [{ __type__: "update" }, { __type__: "update" }] : [counted(nodes, most), counted(gpus, most)];
}

/** @param {number | null} value @param {number} most */
const counted = (value, most) => Math.min(Math.max(Math.trunc(value || 1), 1), most);
