// What the server answers and what modules hand to each other, for the type checker alone: no page loads this file.

export type Axis = "step" | "time" | "epoch";
export type Range = [number, number];
export type Trigger = (event: string, detail: object) => void;
export type Watch = (name: string, changed: () => void) => void;

/** What Gradio hands to a component of ours; its value is what the server put there. */
export interface Props<T> {
  value: T;
}

// --- curves --------------------------------------------------------------------------------------------------------

/** A number, or "NaN", "Infinity", "-Infinity": JSON has none. */
export type Told = number | string;
export type Kind = "train" | "eval" | "final" | "sample";

/** One logged value; NaN for a place that it does not have. */
export interface Point {
  step: number;
  time: number;
  epoch: number;
  y: number;
}

/** One point, or of `n` the lowest and the highest and their mean. */
export interface Stretch {
  low: Point;
  high: Point;
  mean: number;
  n: number;
}

export interface SeriesInfo {
  name: string;
  kind: Kind;
  rank: number | null;
  source: string;
  node: string;
}

/** Places on an axis: `v` as they are, or `d` as differences in units of 10 ** -k; null where none has any. */
export type Coded = { v: (number | null)[] } | { v?: undefined; d: number[]; k: number } | null;

export interface AnsweredCurve {
  id: string;
  x: number;
  v: Told[];
  size?: number;
  count?: number;
  mean?: (Told | null)[];
  last?: Told;
  odd?: { x: number; v: Told[] };
}

export interface CurvesAnswer {
  series: Record<string, SeriesInfo>;
  x: Record<Axis, Coded>[];
  y: AnsweredCurve[];
}

// --- a run ---------------------------------------------------------------------------------------------------------

export interface RunEvent {
  kind: string;
  text: string;
  step: number | null;
  elapsed_s: number | null;
  subject?: string;
  code?: string;
  given?: Record<string, string>;
  machine?: string;
}

export interface Progress {
  step: number | null;
  total: number | null;
  eta_s: number | null;
  /** As measured over the run. */
  steps_per_second?: number | null;
}

export interface RunAbout {
  preset: string;
  /** Its model, settings and devices, in few words. */
  ran: string[];
  command: string;
  directory: string;
}

export interface Delta {
  run_id: string;
  name: string;
  tags: string[];
  note: string;
  archived: boolean;
  state: string;
  reason: string;
  phase: string;
  phase_s: number | null;
  doing: string;
  started_at?: number | null;
  elapsed_s: number | null;
  kill_in_s: number | null;
  telemetry_note: string;
  problem?: string;
  can_end: boolean;
  can_save: boolean;
  progress: Progress | null;
  epoch: { number: number; epochs: number | null } | null;
  no_loss: { text: string } | null;
  about: Partial<RunAbout>;
  curves: CurvesAnswer;
  peak?: Predicted | null;
  events: RunEvent[];
  output: string;
  cursor: Record<string, string>;
  anew: boolean;
  growth: { growing: boolean; seen: boolean; read_s: number; changed_s: number; problem: string } | null;
}

export interface RunSummary {
  run_id: string;
  name: string;
  state: string;
  started_at: number | null;
  duration_s: number | null;
  step: number | null;
  total: number | null;
  loss: Told | null;
  preset: string;
  model: string;
  devices: string;
  script: string;
  problem?: string;
  /** Why it failed, in a few words. */
  why?: string;
  doing: string;
  place: number;
  predicted?: Predicted | null;
  peak?: Predicted | null;
  best_loss: Told | null;
  /** The first loss that is no number. */
  odd_loss?: { value: string; step: number | null } | null;
  steps_per_second: number | null;
  step_s: number | null;
  trial: string;
  tags: string[];
  note: string;
  archived: boolean;
  differs: Change[];
  differs_from: string;
  /** What that run is called now, as the list knows. */
  base?: string;
  adopted?: boolean;
  more?: Record<string, string>;
}

/** A setting that is not what it was in an earlier run; null: not set, "": an option without a value. */
export interface Change {
  part: string;
  key: string;
  before: string | null;
  after: string | null;
}

/** What is changed of what a user wrote on runs. */
export interface LabelChange {
  name?: string;
  tags?: string[];
  add_tags?: string[];
  note?: string;
  archived?: boolean;
}

/** The part of the list that was asked for: `ids` is null where the page has them, `rows` are those that changed. */
export interface ListedRuns {
  total: number;
  fits: number;
  held: number;
  unread: number;
  ids: string[] | null;
  rows: RunSummary[];
  since: string;
  place: number | null;
  archived: number;
  archived_fit: number;
  baseline: RunSummary | null;
  /** A word without its value, and how it may go on. */
  unfinished: [string, string] | null;
  /** Where nothing fits, a word that can't, why, and what may be written or what its key is. */
  misread: [string, "number" | "key", string] | null;
  tagged: number;
  /** The further columns that were asked for, of each run of the window. */
  more: Record<string, Record<string, string>>;
  /** What the runs are called that these differ from; "" of one that was deleted. */
  bases: Record<string, string>;
}

export interface Estimate {
  states_bytes: number;
  estimate_bytes: number;
}

/** What the memory model foretold, in bytes: of a run on one GPU, and on one machine's host. */
export interface Predicted {
  gpu_bytes?: number;
  host_bytes?: number;
}

export interface Diagnosis {
  signature: string;
  said?: { title: { code: string } };
  title: string;
  rank: number | null;
  meaning: string;
  advice: string[];
  remedy: { label: string } | null;
  remedies: { key: string; label: string; button: string; fits?: string; does?: string }[];
  on_launch?: number | null;
  in_output?: number | null;
  quote?: string;
  ends: string;
  set_aside: string[];
  checked?: string;
  away?: string;
  resume?: { path: string; name: string } | null;
  facts?: { name: string; value: string; is_path: boolean }[];
  problem?: string;
  offered?: number[];
  cause?: string[];
  traceback: string;
  evidence: string;
}

/** What stopping a run now would lose; `looked`: whether its folders may be searched for checkpoints. */
export interface Stake {
  step: number | null;
  elapsed_s: number | null;
  checkpoint: { name: string; step: number; age_s: number } | null;
  looked: boolean;
}

export interface Checkpoint {
  name: string;
  path: string;
  complete: boolean;
  problem: string;
}

export interface Provenance {
  python?: string;
  versions?: Record<string, string>;
  git?: { commit?: string; branch: string; dirty: boolean | null } | null;
}

/** Of a training that dsgui did not start: what was read of it, and what not. */
export interface Adopted {
  folder: string;
  kinds: string[];
  notes: string[];
  read_at: number | null;
  settings: string;
}

/** What takes as long as the checks before a start. */
export interface Judged {
  diagnosis: Diagnosis | null;
  predicted: Predicted | null;
}

/** The highest of a loss, and how many it has. */
export interface Spike {
  step: number;
  value: number;
  count: number;
}

/** `checking`: the changes of its diagnosis are not checked yet, or its prediction is not known; `Judged` tells both. */
export interface AboutAnswer {
  checking?: boolean;
  diagnosis: Diagnosis | null;
  parent: string;
  provenance: Provenance;
  checkpoints: Checkpoint[];
  resume_note: string;
  loss_spike: Spike | null;
  damaged?: boolean;
  is_job?: boolean;
  adopted?: Adopted | null;
  config: string;
  /** Whether it can be opened in the editor, for want of a clone. */
  opens_config?: boolean;
  script: string;
  estimate: Estimate | null;
  predicted?: Predicted | null;
}

/** Something that a run left: a checkpoint, an adapter, a model. `to` is where a result goes, by what is done. */
export interface SavedThing {
  path: string;
  name: string;
  kind: string;
  step: number;
  size_bytes: number;
  complete: boolean;
  verbs: string[];
  base: string;
  tries: boolean;
  to: Record<string, string>;
}

export interface TryGiven {
  source: string;
  prompt: string;
  template: string;
  base: string;
  beside: boolean;
  tokens: string;
  temperature: string;
  seed: string;
  device: string;
}

export interface TryAbout {
  source: string;
  name: string;
  base: string;
  has_base: boolean;
  template: string;
  memory: string;
  free: string;
  refusal: string;
}

/** `{}` where nothing was asked. */
export interface TryAnswer {
  phase?: string;
  of?: string;
  facts?: string;
  loaded?: boolean;
  source?: string;
  problem?: string;
  answers?: Record<string, { text: string; tokens?: number; seconds?: number; stopped?: string }>;
}

export interface AfterAnswer {
  is_job: boolean;
  things: SavedThing[];
  jobs: { run_id: string; name: string; state: string; live: boolean; doing: string }[];
  note: string;
  has_best: boolean;
}

export interface JobAnswer {
  to: string;
  disk: string;
  memory: string;
  free_disk: string;
  free_memory: string;
  refusal: string;
  warning: string;
}

export interface OldAnswer {
  checkpoints: { path: string; name: string; size_bytes: number; step: number; why: string }[];
  freed_bytes: number;
  count: number;
}

export interface Removal {
  path: string;
  files: number;
  size_bytes: number;
  largest: [string, number][];
}

export interface PatternAnswer {
  kept: string[];
  problem: string;
  matches: { line: string; found: string }[];
}

export interface SearchAnswer {
  matches: { line: string; offset: number; number: number | null }[];
  total: number;
}

export interface OutputAnswer {
  before: string;
  line: string;
  after: string;
  end: number;
}

export interface SlowCause {
  code: string;
  share: number | null;
  line: string;
  figures: string[];
  advice: string;
}

export interface SlowAnswer {
  code: string;
  line: string;
  figures: string[];
  causes: SlowCause[];
}

export interface GpuFigures {
  peak_bytes: number;
  mean_bytes: number;
}

export interface ComparedRun {
  state: string;
  tags: string[];
  preset: string;
  model: string;
  figures: {
    steps: number | null;
    duration_s: number | null;
    steps_per_second: number | null;
    samples_per_second: number | null;
    tokens_per_second: number | null;
    final_loss: Told | null;
    best_loss: Told | null;
    loss_spike: Spike | null;
    gpus: GpuFigures[];
    run_peak_bytes: number | null;
    run_gpu_peak_bytes: number | null;
    run_gpu_mean_bytes: number | null;
    run_mean_bytes: number | null;
    host_peak_bytes: number | null;
  };
}

/** A part of the settings of runs; null: not set there, "": an option without a value; `place`: among all that differ. */
export interface SettingsPart {
  code: string;
  unknown: number[];
  uncertain: boolean;
  differ: { key: string; values: (string | null)[]; place?: number }[];
  same: { key: string; values: (string | null)[] }[];
}

export interface CompareAnswer {
  runs: ComparedRun[];
  sections: SettingsPart[];
  answers: { question: string; sentences: string[] }[];
  evaluations: EvaluationRow[];
  /** What is another that trains: neither a loss nor a speed is then better than another. */
  unlike: "script" | "model" | "data" | "";
  /** What of them says nothing of each other, in a sentence. */
  why_unlike: string;
}

/** What evaluations of the runs logged last, or best, under one name. */
export interface EvaluationRow {
  name: string;
  values: (Told | null)[];
  better: "less" | "more" | "";
}

// --- charts --------------------------------------------------------------------------------------------------------

/** A run as its charts are drawn. */
export interface Source {
  name: string;
  curves: import("./metrics/curves.js").Curves;
  live?: boolean;
  events?: RunEvent[];
  noLoss?: string;
  base?: boolean;
  estimate?: () => Estimate | null | undefined;
  predicted?: () => Predicted | null | undefined;
}

/** How the charts are looked at. `axis` is what the user chose, null for nothing. */
export interface View {
  axis: Axis | null;
  smoothing: number;
  range: Range | null;
}

/** How the charts stand: ids of charts. */
export interface Layout {
  order: string[];
  hidden: string[];
  pinned: string[];
  log: string[];
  linear: string[]; // of those that usually are logarithmic
  clipped: string[]; // without outliers in their scale
}

/** What a chart says of a place: a row for each of its lines. */
export interface Row {
  name: string;
  colour: string;
  value: string;
  note: string;
  x?: number; // where its point is
  y?: number; // and of what is no number none
  unit?: string;
}

export interface Readout {
  at: number;
  title: string;
  rows: Row[];
  more: number;
  marks: string[];
}

/** The same as a chart draws it: the axis decided, the range of all charts' points, what happened on it. */
export interface Drawn extends View {
  axis: Axis;
  counted?: boolean;
  log: boolean;
  clipped?: boolean;
  reach: Range | null;
  events: Mark[];
  marked: boolean;
}

/** What happened in a run, at a place of the axis. */
export interface Mark {
  kind: string;
  at: number;
  label: string;
}

export interface Style {
  colour: string;
  dash: string;
}

export interface Line extends Style {
  run: number;
  name: string;
  plain: string;
  legend: boolean;
  neutral?: boolean;
  card?: string;
  note?: string;
  sign?: string;
  group?: string;
  curve: import("./metrics/curves.js").Curve;
  clock: import("./metrics/curves.js").Clock | null;
  scale: number;
  axis?: "y2";
  title?: string;
  mode?: string;
  symbol?: string;
  /** Of several runs, what its own is called, or its group. */
  of?: string;
  /** Of several runs, whether it is that of the baseline. */
  base?: boolean;
  band?: import("./metrics/groups.js").Band;
}

/** Runs taken together; `members` are their places among those compared. */
export interface Group {
  name: string;
  members: number[];
}

/** Of one curve or several, the values at a place of the axis. */
export interface Placed {
  at: number;
  low: number;
  high: number;
  mean: number;
}

export interface Limit {
  at: number;
  text: string;
  colour?: string;
}

/** A chart of the catalogue. */
export interface ChartKind {
  code: string;
  y: string;
  unit?: string;
  scale?: number;
  zero?: boolean;
  more?: boolean;
}

/** Where the catalogue has a curve: its chart, and what it is there. */
export interface Spot {
  chart: string;
  note?: string;
  right?: string;
  dash?: string;
  colour?: string;
  alone?: boolean;
  unless?: string;
  if_any?: boolean;
}

/** Which chart a curve belongs to (its id), and how its line looks there. */
export interface Place {
  chart: string;
  heading: string;
  y: string;
  unit?: string;
  scale?: number;
  fromZero?: boolean;
  axis?: "y2";
  title?: string;
  note?: string;
  dash?: string;
  colour?: string;
  alone?: boolean;
  unless?: string;
  ifAny?: boolean;
  more?: boolean;
  gpu?: number | null;
}

// --- plotly.js, as far as it is used -------------------------------------------------------------------------------

export interface Trace {
  x: number[];
  y: (number | null)[];
  yaxis: string;
  meta?: TraceMeta;
  [option: string]: unknown;
}

/** The least and the most of several runs at a place. */
export interface Spread {
  low: number;
  high: number;
  count: number;
  total: number;
}

/** What a trace is in its chart; `line` counts its lines, `run` is that of the line. */
export interface TraceMeta {
  part: "value" | "mean" | "odd" | "mark" | "band" | "beyond";
  line?: number;
  run?: number;
  name?: string;
  colour?: string;
  unit?: string;
  logged?: boolean;
  spread?: Spread[];
  kinds?: string[];
  /** Whether it only shows that its curve lies below another. */
  rim?: boolean;
  /** How many runs have the values of this line, which covers theirs. */
  same?: number;
  /** Whether it is the mean of a whole group. */
  drawn?: boolean;
}

export interface Relayout {
  "xaxis.autorange"?: boolean;
  "xaxis.range[0]"?: number;
  "xaxis.range[1]"?: number;
  "xaxis.range"?: Range;
}

export interface PlotAxis {
  range: (number | string)[];
  _offset: number;
  _length: number;
  p2d(pixel: number): number;
  d2p(place: number): number;
}

export interface PlotElement extends HTMLElement {
  _fullLayout?: { xaxis: PlotAxis; yaxis: PlotAxis };
  _fullData?: { uid: string; meta?: TraceMeta }[];
  data?: object[];
  layout?: { yaxis?: object; showlegend?: boolean };
  on?(event: "plotly_relayout", act: (change: Relayout) => void): void;
}

export interface PlotlyLibrary {
  react(plot: HTMLElement, traces: object[], layout: object, config: object): Promise<void>;
  relayout(plot: HTMLElement, changes: object): Promise<void>;
  purge(plot: HTMLElement): void;
  downloadImage(plot: HTMLElement | object, options: object): Promise<string>;
}

// --- the form ------------------------------------------------------------------------------------------------------

export interface Field {
  pointer: string;
  key: string;
  title: string;
  kind: string;
  help?: string;
  also?: string;
  unit?: string;
  default?: string;
  choices?: string[];
  suggestions?: string[];
  auto?: boolean;
  least?: number;
  common?: boolean;
  removed?: string;
  otherwise?: string;
}

export interface Section {
  id: string;
  title: string;
  intro: string;
  fields: Field[];
}

export interface FormState {
  values?: Record<string, string>;
  broken?: string;
  /** Nothing is in the editor. */
  blank?: boolean;
  /** Where a broken text breaks off. */
  place?: { line: number; column: number };
  acked?: Record<string, string>;
  idle?: number[];
  not_taken?: Record<string, number[]>;
  problems?: Record<string, string>;
  /** Whether a native script reads the config. */
  native?: boolean;
  found?: Found[];
  release?: string;
}

/** A finding where it is about: at a field, and on the line of the text where that stands (or would). */
export interface Found {
  pointer: string;
  severity: "error" | "warning" | "note";
  text: string;
  line: number;
  /** Of a text that breaks off there. */
  column?: number;
  /** By which the list of findings has it; none of a text that can't be read. */
  rule?: string;
}

export interface Release {
  absent: Record<string, string>;
  defaults: Record<string, string>;
}

/** What passes through the form's value: the server's state as one text, what it should do, or our edits. */
export interface FormValue {
  state?: string;
  discard?: boolean;
  refresh?: boolean;
  edits?: Record<string, string>;
}

/** The config as a whole, who reads it, and the id of the preset or the file it began as, "" for none. */
export interface Entry {
  text: string;
  reader: string;
  preset: string;
}

// --- memory --------------------------------------------------------------------------------------------------------

/** A part of a bar in bytes; with a margin also the least and the most. `keys`: pointers into the config, arguments. */
export interface MemoryPart {
  part: string;
  place: string;
  bytes: number;
  least?: number;
  most?: number;
  keys?: string[];
}

export interface MemoryMoment {
  moment: string;
  fit: string;
  bytes: number;
  parts: MemoryPart[];
}

/** A GPU, or a machine's host with all of its ranks. */
export interface MemoryDevice {
  device: string;
  fit: string;
  capacity: number | null;
  in_use: number;
  worst: string;
  moments: MemoryMoment[];
}

export interface Sentence {
  text: string;
  code?: string;
}

/** What the bar on Configure says; `plan`: the machine that a preset was made for. */
export interface Standing {
  name: string;
  own: boolean;
  modified: boolean;
  lacks: string;
  against: string;
  /** What the number of ranks counts: a text's code. */
  counts: "gpus" | "cpu_ranks";
  broken: boolean;
  blank: boolean;
  errors: number;
  warnings: number;
  notes: number;
  fit: string;
  /** No model is named: nothing is known of its memory. */
  nameless: boolean;
  guessed: boolean;
  host_asked?: number;
  plan: { gpus: number; nodes: number; ranks: number; device: string; card: string } | null;
}

/** The change that makes a config fit, or the search for it: what is said of it, step by step, and the button's name, ""
    for none. */
export interface WayOut {
  text: string;
  steps: (Node | string)[];
  /** What would fit as well. */
  other: string;
  /** Where what would help is typed. */
  leads: HTMLElement[];
  name: string;
  looking: boolean;
  press: () => void;
}

/** A config of the ladder; `slower` than the one in the editor by estimate, `needs` in bytes at the fullest moment. */
export interface LadderStep {
  moves: Sentence[];
  changes: { pointer: string; value: unknown }[];
  script: Sentence[];
  given?: string[];
  checkpointing: boolean;
  zero_init: boolean;
  key: string;
  needs: Record<string, number>;
  slower: number;
  fit: string;
}

export interface Ladder {
  /** Why none of them can be tried; absent where they can. */
  untried?: string;
  asked: string;
  steps: LadderStep[];
  why?: Sentence;
}

/** What a trial of a step of the ladder measured; bytes, and seconds a step. */
export interface Trial {
  run: string;
  live: boolean;
  failed: boolean;
  says: string;
  step_s: number | null;
  gpu: number | null;
  host: number | null;
}

/** The trials by the key of their step; `why` says why none was started, and `to` where that is mended. */
export interface Trials {
  runs?: Record<string, Trial>;
  why?: string;
  to?: string;
  note?: string;
  removed?: boolean;
}

/** What the start from a goal asks. */
export interface GoalAsked {
  framework: string;
  model: string;
  device: string;
  gpus: number;
  nodes: number;
  length: number;
  micro_batch: number;
  /** GiB of each node; 0 where nothing was said. */
  host: number;
  /** The rank of LoRA; 0 where all is trained. */
  lora: number;
}

/** A config to begin with; `slower` than the first of them by estimate. */
export interface GoalChoice {
  preset: string;
  title: string;
  purpose: string;
  text: string;
  role: string;
  slower: number;
  checkpointing: boolean;
  /** A larger one that fits, or 0. */
  micro_batch: number;
  words: string;
  verdict: { fit: string; host_asked: number; parameters?: number; devices: MemoryDevice[]; guess?: Sentence[] };
}

/** `field`: what `why` is about. */
export interface GoalFound {
  turn: number;
  choices: GoalChoice[];
  why?: Sentence;
  field?: string;
  /** What would fit, where nothing does; lora is the rank, or 0. */
  ways?: { gpus: { device: string; title: string; gpus: number; nodes: number } | null; lora: number };
}

export interface GoalOffered {
  devices: { id: string; title: string; group: string }[];
  usual: { gpus: number; length: number; has_gpu: boolean };
}

export interface GoalProps extends Props<string> {
  offered: string;
}

/** One thing to choose; `also` is searched and not shown. */
export interface PickerOption {
  id: string;
  title: string;
  group: string;
  also: string;
}

/** `options`: a JSON list of lists, each the texts of a `PickerOption`. */
export interface PickerProps extends Props<string> {
  label: string;
  options: string;
  info?: string;
}

/** What the memory panel shows; without `devices` there is no number, and `why` says it. */
export interface MemoryTold {
  fit: string;
  /** Bytes that a host that nobody described has to have, where many have fewer. */
  host_asked?: number;
  why?: Sentence;
  goto?: string;
  as_if?: { pointer: string; text: string }[];
  about?: string;
  guess?: Sentence[];
  asked?: string;
  of?: string;
  source?: string;
  ranks: number;
  devices?: MemoryDevice[];
  short: Sentence[];
  notes: Sentence[];
  /** That no change of the config makes it fit, where that is known without looking for one. */
  never?: { why: Sentence; needs?: Sentence };
  formula?: { devices?: MemoryDevice[] };
  remarks?: Sentence[];
}

/** `found`: the cheapest change; `rehearsed`: the dry run. Each is a text of JSON. */
export interface MemoryProps extends Props<unknown> {
  found?: unknown;
  rehearsed?: unknown;
}

/** A phase of a dry run; `counts` are a device's bytes at points that are evenly spread in it. */
export interface RehearsedPhase {
  phase: string;
  step: number;
  counts: Record<string, number[]>;
}

/** What a line of code has in use; without `line` it has none, `smaller` are several. */
export interface RehearsedPart {
  part: string;
  place: string;
  bytes: number;
  line?: string;
  smaller?: boolean;
}

export interface RehearsedPeak {
  device: string;
  moment: string;
  fullest: boolean;
  parts: RehearsedPart[];
}

/** A dry run about `of`: how far it is, what it found, or in `said` why it found nothing. */
export interface Rehearsed {
  state: "waiting" | "running" | "cannot" | "answered";
  said: string;
  of?: string;
  seconds?: number;
  phases?: RehearsedPhase[];
  peaks?: RehearsedPeak[];
  code?: Record<string, string>;
}

/** The cheapest change that fits what was `asked` about, or `why` there is none; neither where nothing is to be done. */
export interface MemoryChange {
  asked: string;
  why?: Sentence;
  /** What helps, as no change of the config does. */
  needs?: Sentence;
  beyond?: Beyond[];
  /** What would fit as well, were the training another. */
  other?: Sentence;
  text?: string;
  brief?: string;
  changes?: { pointer: string; value: unknown }[];
  script?: Sentence[];
  given?: string[];
  checkpointing?: boolean;
  zero_init?: boolean;
  fields?: Record<string, string | number>;
}

/** What would fit where no change of the config does, by name: the `fields` that are planned with, the change that it
 * needs beside, and what it takes `then`. */
export interface Beyond {
  name: string;
  then: string;
  fields: Record<string, string | number>;
  changes?: { pointer: string; value: unknown }[];
  script?: Sentence[];
  given?: string[];
  checkpointing?: boolean;
  zero_init?: boolean;
}

/** What one parameter takes: `each` bytes, divided into `parts`; of those that are trained only, or of all. */
export interface StateShare {
  part: string;
  place: string;
  each: number;
  parts: number;
  trained: boolean;
  bytes: number;
}

/** A ZeRO stage; without `devices` there is no number, and `why` says it. */
export interface ZeroStage {
  stage: number;
  why?: Sentence;
  fit?: string;
  devices?: MemoryDevice[];
  parameters?: number;
  trainable?: number;
  states?: StateShare[];
  by_paper?: number;
  sent?: number;
}

/** The stages side by side, for what was `asked` about; or `why` not. */
export interface ZeroStages {
  asked: string;
  why?: Sentence;
  current?: number;
  ranks?: number;
  /** Whether the host is all there is. */
  on_cpu?: boolean;
  activations?: number;
  stages?: ZeroStage[];
  notes?: Sentence[];
}

/** A stage's fullest moment; widths and the capacity's line are percent. */
export interface StageBar {
  device: string;
  moment: string;
  bytes: number;
  capacity: number | null;
  line: number | null;
  segments: { part: string; bytes: number; width: number }[];
}

/** A bar as it is drawn. */
export interface MemoryBar {
  bytes: number;
  capacity: number | null;
  fit: string;
  line: number | null;
  segments: { part: MemoryPart; width: number; id: string }[];
}

declare global {
  interface Window {
    Plotly: PlotlyLibrary;
    gradio_config: { components: { type: string; props: Record<string, unknown> }[] };
    dsguiTexts?: Entry[];
    dsguiMove?: Entry;
    dsguiGoal?: { asked: GoalAsked; choice: GoalChoice };
  }
  interface WindowEventMap {
    "dsgui:text": CustomEvent<Entry>;
    "dsgui:goto": CustomEvent<string>;
    "dsgui:memory": CustomEvent<string>;
    "dsgui:runs": CustomEvent<"next" | "previous" | "choose" | "all">;
    "dsgui:unanswered": CustomEvent<string>;
  }
  const Plotly: PlotlyLibrary;
}

// --- tutorials -----------------------------------------------------------------------------------------------------

export interface LearnOffer {
  label: string;
  first: string;
  values: { value: string; title: string }[];
}

export interface LearnStep {
  id: string;
  does: "answers" | "launches" | "halves" | "compares" | "finds" | "works_on";
  title: string;
  text: string[];
  buttons: string[];
  question: string;
  choices: string[];
  sliders: string[];
  alone: boolean;
  /** How to read the picture. */
  notes: string[];
  table: string[][];
}

export interface LearnTrack {
  id: string;
  name: string;
  about: string;
  source: string;
  steps: LearnStep[];
}

export interface LearnTold {
  labels: Record<string, string>;
  offers: Record<string, LearnOffer>;
  tracks: LearnTrack[];
}

export interface LearnNumbers {
  source: string;
  head: string[];
  rows: string[][];
}

export interface LearnStepState {
  done: boolean;
  note: string;
  runs: string[];
  choice: number | null;
  is_right: boolean | null;
  answer: string;
  numbers: LearnNumbers | null;
}

export interface LearnState {
  track: string;
  steps: Record<string, LearnStepState>;
}
