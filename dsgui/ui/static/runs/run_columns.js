// What a row of the list of runs tells: each column's text, and its value where others are told against it. Pure,
// but for the texts.

import { locale } from "../common/dom.js";
import { duration, figure, fixed, gib, perSecond } from "../common/format.js";
import { keyName } from "../memory/memory_bars.js";
import { listed, textOf, words } from "../texts/texts.js";

/** @import { RunSummary, Told } from "../types.d.ts" */

/**
 * `sorts`: the server can order by it; `shown`: unless the user chose otherwise; `width` is CSS's; `isFigure`: stands
 * at the right, with as many digits as its neighbours.
 * @typedef {{ id: string, width: string, shown?: boolean, sorts?: boolean, isFigure?: boolean,
 *   text: (run: RunSummary) => string, value?: (run: RunSummary) => Told | null | undefined }} Column
 */

const MOST_SHORT = 2;
const FURTHER = ["config:", "arguments:", "metrics:"];
const MOST_FURTHER = 6000; // characters of keys, with a line's end between two
const LONGEST_KEY = /^[a-z]+:.{1,300}$/u;
const LOSS_DIGITS = 4;
/** What the parts of a run's settings are called. @type {Record<string, string>} */
export const PARTS = {
  training: "part_training",
  arguments: "part_arguments",
  config: "part_config",
  environment: "part_environment",
  launch: "part_launch",
  code: "part_code",
  versions: "part_versions",
};

/**
 * When a run began; of one that has not, when its launch was prepared, which its id tells.
 * @param {RunSummary} run
 */
export function began(run) {
  if (run.started_at) return new Date(run.started_at * 1000);
  const parts = run.run_id.match(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)/) ?? [];
  const [year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number);
  return new Date(year, month - 1, day, hour, minute, second);
}

/** @param {Date} date */
export function shownDate(date, now = new Date()) {
  /** @type {Intl.DateTimeFormatOptions} */
  const time = { hour: "numeric", minute: "2-digit" };
  if (date.toDateString() === now.toDateString()) {
    return words("runs_page", "today", { time: date.toLocaleTimeString(locale(), time) });
  }
  /** @type {Intl.DateTimeFormatOptions} */
  const day = { month: "short", day: "numeric" };
  if (date.getFullYear() === now.getFullYear()) return date.toLocaleString(locale(), { ...day, ...time });
  return date.toLocaleDateString(locale(), { ...day, year: "numeric" });
}

/** A key as people write it: a place in the config with dots. @param {string} part @param {string} key */
export const spelled = (part, key) => (part === "config" ? keyName(key) : key);

const OF_ANY_BLOCK = new Set(["device", "enabled", "nvme_path", "pin_memory", "type"]);

/**
 * An option, or the last part of a place in the config: with the block, where many have such a key.
 * @param {string} key
 */
function short(key) {
  const parts = key.split("/");
  const name = (parts.pop() ?? key).replace(/^-+/, "");
  return OF_ANY_BLOCK.has(name) && parts.at(-1) ? `${parts.at(-1)}.${name}` : name;
}

/** What a setting of the launch is called, within a line. @type {Record<string, string>} */
const LAUNCHED = { devices: "short_devices", reader: "short_reader" };

/** @param {string} part @param {string} key */
const nameOf = (part, key) => (part === "launch" ? textOf("compare_page", LAUNCHED[key] ?? "", key) : short(key));

/** A key and what became of it. @param {import("../types.d.ts").Change} change */
function changeOf({ part, key, before, after }) {
  const name = nameOf(part, key);
  if (after === null) return `−${name}`;
  if (before === null) return `+${name}${after ? ` ${after}` : ""}`;
  return `${name} ${valueOf(before)}→${valueOf(after)}`;
}

/** What differs most from the run before; a value may have commas. @param {RunSummary} run */
export const mostChanged = ({ differs }) => differs.slice(0, MOST_SHORT).map(changeOf).join(" · ");

/** How much more does. @param {RunSummary} run */
export const moreChanged = ({ differs }) => (differs.length > MOST_SHORT ? ` · +${differs.length - MOST_SHORT}` : "");

/** @param {RunSummary} run */
export const shortChanges = (run) => mostChanged(run) + moreChanged(run);

/** All of it, a line each. @param {RunSummary} run */
export function allChanges({ differs }) {
  return differs.map(({ part, key, before, after }) => {
    /** @param {string | null} value */
    const told = (value) => (value === null ? words("compare_page", "not_set") : valueOf(value));
    const name = part === "launch" ? nameOf(part, key) : spelled(part, key);
    return `${words("compare_page", PARTS[part] ?? part)} · ${name}: ${told(before)} → ${told(after)}`;
  });
}

/** The files of a training that dsgui did not start may tell no times. @param {RunSummary} run */
export function dateOf(run) {
  return (run.state === "elsewhere" || run.adopted) && !run.started_at ? "–" : shownDate(began(run));
}

/** @param {RunSummary} run */
export function stepOf(run) {
  return run.total ? `${run.step ?? 0} / ${run.total}` : figure(run.step);
}

/** @param {RunSummary} run */
const speedOf = ({ steps_per_second: speed }) => perSecond(speed ?? 0);

/** @param {string} text */
const or = (text) => text || "–";

/** @type {Column[]} */
export const COLUMNS = [
  { id: "date", width: "112px", shown: true, sorts: true, text: dateOf },
  { id: "state", width: "96px", shown: true, sorts: true, text: (run) => textOf("states", run.state) },
  { id: "tags", width: "minmax(92px, 1fr)", shown: true, sorts: true, text: (run) => listed(run.tags) },
  { id: "note", width: "minmax(160px, 2fr)", sorts: true, text: (run) => run.note },
  { id: "differs", width: "minmax(132px, 3fr)", shown: true, text: shortChanges },
  { id: "preset", width: "minmax(120px, 0.7fr)", sorts: true, text: (run) => or(run.preset) },
  { id: "model", width: "minmax(110px, 0.7fr)", sorts: true, text: (run) => or(run.model) },
  { id: "gpus", width: "72px", shown: true, sorts: true, text: (run) => or(run.devices) },
  {
    id: "duration",
    width: "84px",
    isFigure: true,
    shown: true,
    sorts: true,
    text: (run) => duration(run.duration_s),
    value: (run) => run.duration_s,
  },
  { id: "step", width: "92px", sorts: true, isFigure: true, text: (run) => run.doing || stepOf(run) },
  {
    id: "best_loss",
    width: "80px",
    isFigure: true,
    shown: true,
    sorts: true,
    text: (run) => fixed(run.best_loss, LOSS_DIGITS),
    value: (run) => run.best_loss,
  },
  {
    id: "final_loss",
    width: "82px",
    isFigure: true,
    shown: true,
    sorts: true,
    text: (run) => fixed(run.loss, LOSS_DIGITS),
    value: (run) => run.loss,
  },
  {
    id: "gpu_peak",
    width: "84px",
    isFigure: true,
    shown: true,
    sorts: true,
    text: (run) => gib(run.peak?.gpu_bytes),
    value: (run) => run.peak?.gpu_bytes,
  },
  {
    id: "host_peak",
    width: "84px",
    isFigure: true,
    sorts: true,
    text: (run) => gib(run.peak?.host_bytes),
    value: (run) => run.peak?.host_bytes,
  },
  {
    id: "speed",
    width: "96px",
    isFigure: true,
    shown: true,
    sorts: true,
    text: (run) => speedOf(run),
    value: (run) => run.steps_per_second,
  },
];

// What a table without room for all leaves out, the first first. Nobody chose it. The first leaves before a long name
// or what changed is cut: most runs of one machine have the same devices.
const LEAVES = ["gpus", "tags", "gpu_peak", "best_loss", "differs", "date"];
const BOX_PX = 34;
const NAME_PX = 264;
const CHANGED_PX = 58; // what a changed key and its values take beside the least of their column
const NARROW_NAME_PX = 158;

/** A value of a key; "" is an option without one. @param {string | null} [value] */
const valueOf = (value) => (value === "" ? words("compare_page", "set") : (value ?? "–"));

/** A column of a key of the config, an argument or a metric, by which the server names it. @param {string} id */
const further = (id) => FURTHER.some((part) => id.startsWith(part));

/** @param {string} id @returns {Column} */
const furtherColumn = (id) => {
  return { id, width: "minmax(92px, 1fr)", sorts: true, text: (run) => valueOf(run.more?.[id]) };
};

/** The head of a column, of a key its last part. @param {string} id */
export function titleOf(id) {
  if (!further(id)) return words("runs_page", `column_${id}`);
  const key = id.slice(id.indexOf(":") + 1);
  return id.startsWith("config:") ? (key.split(".").pop() ?? key) : key;
}

/** Whether the server can order by it. @param {string} id */
export const isSortable = (id) =>
  id === "name" || (further(id) ? LONGEST_KEY.test(id) : COLUMNS.some((one) => one.sorts && one.id === id));

/** Those that the server is asked for besides, as many as it takes. @param {{ id: string }[]} columns */
export function furtherOf(columns) {
  let left = MOST_FURTHER;
  return columns.flatMap(({ id }) => (further(id) && (left -= id.length + 1) >= -1 ? [id] : []));
}

/** The least that a column takes, in pixels. @param {{ width: string }} column */
const leastOf = ({ width }) => Number(width.match(/\d+/)?.[0] ?? 0);
/** @param {{ width: string }[]} columns */
const sumOf = (columns) => columns.reduce((sum, column) => sum + leastOf(column), 0);

/**
 * The columns that a user chose, in the table's order; where none did, those that `room` pixels hold beside the name,
 * and tags only where a run has one.
 * @param {string[] | undefined} chosen @param {number} [room] @param {boolean} [tagged]
 */
export function columnsOf(chosen, room = Infinity, tagged = true) {
  if (Array.isArray(chosen)) {
    return [...COLUMNS.filter(({ id }) => chosen.includes(id)), ...chosen.filter(further).map(furtherColumn)];
  }
  let columns = COLUMNS.filter(({ id, shown }) => shown && (tagged || id !== "tags"));
  for (const left of LEAVES) {
    const name = left === LEAVES[0] ? NAME_PX + CHANGED_PX : NARROW_NAME_PX;
    if (BOX_PX + name + sumOf(columns) <= room) break;
    columns = columns.filter(({ id }) => id !== left);
  }
  return columns;
}

/**
 * As CSS has the columns of the table, and the least that they take, in pixels.
 * @param {Column[]} columns @param {number} room
 */
export function widthsOf(columns, room) {
  const left = Math.floor(room - BOX_PX - sumOf(columns));
  const name = Math.min(Math.max(left, NARROW_NAME_PX), NAME_PX);
  const all = [`${BOX_PX}px`, `minmax(${name}px, 2fr)`, ...columns.map(({ width }) => width)];
  return { widths: all.join(" "), least: BOX_PX + name + sumOf(columns) };
}
