// A run's curves in the page: what the server told so far, in stretches that never grow beyond what a screen shows.
// Pure.
//
// A stretch is one point, or of many points the lowest and the highest and their mean. When there are too many
// stretches, neighbours become one: no spike is lost, and nothing is asked of the server again.

/** @import { Axis, AnsweredCurve, Coded, CurvesAnswer, Point, SeriesInfo, Stretch, Told } from "../types.d.ts" */

/** @typedef {Record<Axis, number[]>} Places where the points of some curves are, on each axis */

const MOST_STRETCHES = 3000;
const MOST_ODD = 200;
const [FEWEST_SECONDS, MOST_SPEEDS, FEWEST_PLACES] = [5, 700, 3]; // as core/runs/report_charts.py has them
/** @type {Axis[]} */
const AXES = ["step", "time", "epoch"];

/** "NaN", "Infinity": JSON has none. @param {Told | null} value */
const number = (value) => (typeof value === "number" ? value : Number(value ?? NaN));

/** @param {Coded} coded @param {number} count */
function decoded(coded, count) {
  if (!coded) return new Array(count).fill(NaN);
  if (coded.v) return coded.v.map((value) => (value === null ? NaN : value));
  const scale = 10 ** coded.k;
  let sum = 0;
  return coded.d.map((difference) => {
    sum += difference;
    return sum / scale;
  });
}

/** @param {Stretch} a @param {Stretch} b @returns {Stretch} */
function merged(a, b) {
  const ends = [a.low, a.high, b.low, b.high].filter((point) => Number.isFinite(point.y));
  if (!ends.length) return { low: a.low, high: b.high, mean: NaN, n: a.n + b.n };
  let [low, high] = [ends[0], ends[0]];
  for (const point of ends) {
    if (point.y < low.y) low = point;
    if (point.y > high.y) high = point;
  }
  return { low, high, mean: meanOf([a, b].filter((one) => Number.isFinite(one.mean))), n: a.n + b.n };
}

/** @param {Stretch[]} known */
function meanOf(known) {
  const count = known.reduce((sum, one) => sum + one.n, 0);
  return known.reduce((sum, one) => sum + one.mean * one.n, 0) / count;
}

/**
 * Neighbours joined as long as they have at most `size` points together.
 * @param {Stretch[]} all @param {number} size
 */
function joined(all, size) {
  const found = [all[0]];
  for (const one of all.slice(1)) {
    const last = found[found.length - 1];
    if (last.n + one.n <= size) found[found.length - 1] = merged(last, one);
    else found.push(one);
  }
  return found;
}

/** The stretches of one answer's curve. @param {AnsweredCurve} one @param {Places[]} x @returns {Generator<Stretch>} */
function* stretches(one, x) {
  const values = one.v.map(number);
  const axes = x[one.x];
  /** @param {number} i @returns {Point} */
  const point = (i) => ({ step: axes.step[i], time: axes.time[i], epoch: axes.epoch[i], y: values[i] });
  if (!one.size) {
    for (let i = 0; i < values.length; i += 1) {
      const p = point(i);
      yield { low: p, high: p, mean: p.y, n: 1 };
    }
    return;
  }
  const { mean = [], count = 0, size } = one;
  for (let i = 0; i < mean.length; i += 1) {
    const [a, b] = [point(2 * i), point(2 * i + 1)];
    const n = Math.min(size, count - i * size);
    yield { low: a.y <= b.y ? a : b, high: a.y <= b.y ? b : a, mean: number(mean[i]), n };
  }
}

/** @param {CurvesAnswer} answer @returns {Places[]} */
function axesOf(answer) {
  const lengths = new Map();
  for (const { x, v, odd } of answer.y) {
    lengths.set(x, v.length);
    if (odd) lengths.set(odd.x, odd.v.length);
  }
  return answer.x.map((coded, i) => {
    const [step, time, epoch] = AXES.map((axis) => decoded(coded[axis], lengths.get(i) || 0));
    return { step, time, epoch };
  });
}

export class Curve {
  /** @param {string} id @param {SeriesInfo} info */
  constructor(id, info) {
    this.ids = [id];
    this.name = info.name;
    this.kind = info.kind;
    this.rank = info.rank;
    this.source = info.source;
    this.node = info.node;
    /** @type {Stretch[]} */
    this.stretches = [];
    /** @type {Point[]} where a value was NaN or infinite */
    this.odd = [];
    this.count = 0;
    this.size = 2; // how many points a stretch may have when it is joined with another
    this.lastValue = NaN;
    this.told = false; // whether any value is a number
    this.timed = false; // whether any point has a time
    this.numbered = false; // whether its steps are the order of its points
    this.stepped = false; // whether any line said its step
    /** @type {Set<Point>} those whose steps are the order of their lines, where no line of the run says a step */
    this.counted = new Set();
    /**
     * @type {{ axis: Axis, low: number, found: Stretch[] } | null} finer stretches of a part that is looked at closely
     */
    this.detail = null;
    this.version = 0;
    /** @type {{ version: number } & Partial<Record<Axis, boolean>>} */
    this.spanned = { version: 0 };
  }

  /** @param {Iterable<Stretch>} found @param {Point[]} odd @param {number} last */
  take(found, odd, last) {
    this.lastValue = last;
    for (const one of found) {
      this.stretches.push(one);
      this.count += one.n;
      this.told ||= Number.isFinite(one.low.y);
      this.order(one);
      if (one.n === 1 && !Number.isFinite(one.low.y) && this.kind !== "sample") this.odd.push(one.low);
    }
    this.odd.push(...odd);
    const most = 2 * MOST_ODD; // the first and the last
    if (this.odd.length > most) this.odd.splice(MOST_ODD, this.odd.length - most);
    // A table of telemetry that is taken up again brings what lies between.
    if (this.ids.length > 1) this.stretches.sort((a, b) => a.low.time - b.low.time);
    if (this.stretches.length > MOST_STRETCHES) this.compact();
    this.version += 1;
  }

  /**
   * What a later pattern found in the past has no time; where the lines say no step either, their order is one.
   * @param {Stretch} one
   */
  order(one) {
    const both = [one.low, one.high];
    if (!this.stepped && both.some(({ step }) => Number.isFinite(step))) this.isStepped();
    for (const point of both) {
      this.timed ||= Number.isFinite(point.time);
      if (Number.isFinite(point.time) || this.stepped) continue;
      point.step = this.count;
      this.numbered = true;
    }
  }

  /** A line said its step: beside it the order of those before is none. */
  isStepped() {
    this.stepped = true;
    if (!this.numbered) return;
    this.numbered = false;
    for (const { low, high } of this.stretches.slice(0, -1)) low.step = high.step = NaN;
  }

  /** Gives its points the order of their lines for steps; or takes it back. @param {boolean} wanted */
  countLines(wanted) {
    if (!wanted && !this.counted.size) return;
    for (const point of this.counted) point.step = NaN;
    this.counted.clear();
    let line = 0;
    for (const { low, high, n } of wanted ? this.stretches : []) {
      line += n;
      for (const point of [low, high]) {
        point.step = line;
        this.counted.add(point);
      }
    }
    this.version += 1;
  }

  /** Whether its points have no steps but an epoch each: the better place for them than their order. */
  get byEpoch() {
    const epochs = this.numbered ? this.stretches.map((one) => one.low.epoch) : [];
    return epochs.length > 1 && epochs.slice(1).every((epoch, i) => epoch > epochs[i]);
  }

  /** Neighbours become one, of as many points everywhere: what came first is drawn as finely as what came last. */
  compact() {
    for (let size = this.size; this.stretches.length > MOST_STRETCHES / 2; size *= 2) {
      this.size = size;
      this.stretches = joined(this.stretches, size);
    }
  }

  /** Whether two of its points have different places on an axis. @param {Axis} axis */
  spans(axis) {
    if (this.spanned.version !== this.version) this.spanned = { version: this.version };
    return (this.spanned[axis] ??= this.differs(axis));
  }

  /** @param {Axis} axis */
  differs(axis) {
    let first = NaN;
    for (const { low, high } of this.stretches) {
      for (const { [axis]: at } of [low, high]) {
        if (!Number.isFinite(at) || at === first) continue;
        if (Number.isFinite(first)) return true;
        first = at;
      }
    }
    return false;
  }

  /** @returns {Stretch | undefined} */
  get last() {
    return this.stretches[this.stretches.length - 1];
  }

  /** The lowest number; none where there is none. */
  get least() {
    const lows = this.stretches.map(({ low }) => low.y).filter(Number.isFinite);
    return lows.length ? lows.reduce((least, one) => Math.min(least, one)) : undefined;
  }

  /** The stretches to draw: finer ones where they were asked for, and on from the last of these what came since. */
  drawn() {
    if (!this.detail) return this.stretches;
    const { axis, low, found } = this.detail;
    const last = found.length ? found[found.length - 1].high[axis] : low;
    const before = this.stretches.filter((one) => one.low[axis] < low);
    return [...before, ...found, ...this.stretches.filter((one) => one.low[axis] > last)];
  }
}

/**
 * Whether a curve tells more than another of its name: as many points with steps are more than without.
 * @param {Curve} curve @param {Curve} other
 */
function fuller(curve, other) {
  const near = 0.05 * Math.min(curve.count, other.count);
  if (Math.abs(curve.count - other.count) > near) return curve.count > other.count;
  return curve.spans("step") && !other.spans("step");
}

/** @param {Curve} loss */
function speedOf(loss) {
  const points = loss.stretches.flatMap(({ low, high }) => (low === high ? [low] : [low, high]));
  const known = points.filter(({ step, time }) => Number.isFinite(step) && Number.isFinite(time));
  known.sort((a, b) => a.time - b.time);
  const [begin, end] = [known[0]?.time, known.at(-1)?.time ?? NaN];
  const apart = Math.max(FEWEST_SECONDS, (end - begin) / MOST_SPEEDS);
  /** @param {Point} point */
  const part = ({ time }) => Math.floor(time / apart);
  const at = known.filter((point, i) => !i || part(point) !== part(known[i - 1]));
  if (at.length < FEWEST_PLACES) return null;
  const speeds = at
    .slice(1)
    .map((point, i) => ({ ...point, y: (point.step - at[i].step) / (point.time - at[i].time) }));
  const good = speeds.filter(({ y }) => Number.isFinite(y) && y >= 0);
  const { rank, source, node } = loss;
  const speed = new Curve("", { name: "steps_per_second", kind: "train", rank, source, node });
  speed.ids = [];
  speed.take(
    good.map((point) => ({ low: point, high: point, mean: point.y, n: 1 })),
    [],
    good.at(-1)?.y ?? NaN,
  );
  speed.version = loss.version;
  return speed;
}

/** Every curve of one run. */
export class Curves {
  constructor() {
    /** @type {Map<string, Curve>} */
    this.all = new Map();
    /** @type {Map<string, Curve>} telemetry begins another table when a card comes or goes: its curves go on */
    this.same = new Map();
    /** @type {{ of: Curve, version: number, speed: Curve | null } | null} */
    this.measured = null;
    this.countsLines = false; // whether lines may be counted: those of several runs tell nothing beside each other
    this.counted = false; // whether steps are the order of the lines with the loss
    /** @type {import("../types.d.ts").Predicted | null} the most memory that the run had, by its record */
    this.peak = null;
  }

  /** @param {string} id @param {SeriesInfo} info */
  add(id, info) {
    const key = JSON.stringify([info.node, info.name]);
    const known = info.kind === "sample" ? this.same.get(key) : undefined;
    if (known) {
      known.ids.push(id);
      this.all.set(id, known);
      return;
    }
    const curve = new Curve(id, info);
    this.all.set(id, curve);
    if (info.kind === "sample") this.same.set(key, curve);
  }

  get each() {
    return new Set(this.all.values());
  }

  /** Whether it is known when anything was logged. */
  get timed() {
    return [...this.each].some((curve) => curve.timed);
  }

  /** @param {CurvesAnswer} answer */
  take(answer) {
    for (const [id, info] of Object.entries(answer.series)) if (!this.all.has(id)) this.add(id, info);
    const x = axesOf(answer);
    for (const one of answer.y) {
      const curve = this.all.get(one.id);
      if (!curve) continue;
      const odd = one.odd
        ? [...stretches({ id: one.id, x: one.odd.x, v: one.odd.v }, x)].map((place) => place.low)
        : [];
      curve.take(stretches(one, x), odd, number(one.size ? (one.last ?? null) : one.v[one.v.length - 1]));
    }
    if (this.countsLines && answer.y.length) this.countLines();
  }

  /** Where no line of the training says a step, the order of those with the loss is one. */
  countLines() {
    const trained = [...this.each].filter(({ kind }) => kind === "train");
    const loss = trained.some(({ stepped }) => stepped) ? undefined : this.loss();
    this.counted = loss !== undefined && (loss.timed || loss.numbered);
    for (const curve of trained) curve.countLines(this.counted && curve.count === loss?.count);
  }

  /**
   * Finer stretches for a part, as the server answers to `window`.
   * @param {CurvesAnswer} answer @param {Axis} axis @param {number} low
   */
  refine(answer, axis, low) {
    const x = axesOf(answer);
    /** @type {Map<Curve, Stretch[]>} */
    const details = new Map();
    for (const one of answer.y) {
      const curve = this.all.get(one.id);
      if (curve) details.set(curve, [...(details.get(curve) || []), ...stretches(one, x)]);
    }
    for (const [curve, found] of details) {
      curve.detail = { axis, low, found };
      curve.version += 1;
    }
  }

  coarsen() {
    for (const curve of this.each) {
      if (!curve.detail) continue;
      curve.detail = null;
      curve.version += 1;
    }
  }

  /**
   * Of curves of one name from several sources, the fullest; where two are as full, the one that has steps (a script's
   * event file may know them where its lines don't), else the one met first.
   */
  best() {
    /** @type {Map<string, Curve>} */
    const chosen = new Map();
    for (const curve of this.each) {
      const key = JSON.stringify([curve.kind, curve.name, curve.rank || 0, curve.node]);
      const other = chosen.get(key);
      if (curve.count && (!other || fuller(curve, other))) chosen.set(key, curve);
    }
    return [...chosen.values()];
  }

  /**
   * The curve that tells at what time which step was done, or which epoch: the fullest of the training's that has two
   * of them, else of the evaluations'.
   * @param {Axis} axis
   */
  clock(axis) {
    /** @param {string} kind */
    const fullest = (kind) => {
      const spanning = [...this.each].filter((curve) => curve.kind === kind && curve.spans(axis));
      return spanning.sort((a, b) => b.count - a.count)[0];
    };
    return fullest("train") || fullest("eval") || null;
  }

  /** The loss of the training, whatever it is called there. */
  loss() {
    const trained = this.best().filter(({ kind, rank }) => kind === "train" && !rank);
    return trained.find(({ name }) => name === "loss") ?? trained.find(({ name }) => name.split("_").at(-1) === "loss");
  }

  /** The steps a second between points of the loss; null where there are too few of these. */
  speed() {
    const loss = this.loss();
    if (!loss || this.counted) return null;
    if (this.measured?.of !== loss || this.measured.version !== loss.version) {
      this.measured = { of: loss, version: loss.version, speed: speedOf(loss) };
    }
    return this.measured.speed;
  }

  /**
   * The ids of the curves whose stretches hide points between two places of an axis.
   * @param {Axis} axis @param {number} low @param {number} high
   */
  hidden(axis, low, high) {
    /** @param {Stretch} one */
    const hides = (one) => one.n > 1 && one.low[axis] >= low && one.low[axis] <= high;
    const placed = [...this.each].filter((curve) => curve.kind !== "sample" || axis === "time");
    return placed.filter((curve) => curve.stretches.some(hides)).flatMap((curve) => curve.ids);
  }
}

/** At which step or epoch a time was, between logged points. */
export class Clock {
  /** @param {Curve | null} curve @param {Axis} axis */
  constructor(curve, axis) {
    this.axis = axis;
    const placed = (curve?.stretches || []).map((one) => one.low).filter((p) => Number.isFinite(p[axis]));
    const points = placed.filter((p) => Number.isFinite(p.time)).sort((a, b) => a.time - b.time);
    this.timeless = placed.length > 0 && !points.length;
    this.spread = axis === "epoch" && repeats(points);
    const knots = this.spread ? throughEpochs(points) : points.map((p) => [p.time, p[axis]]);
    this.times = knots.map(([time]) => time);
    this.places = knots.map(([, place]) => place);
  }

  get known() {
    return this.times.length > 1;
  }

  /** @param {number} time */
  covers(time) {
    return this.known && time >= this.times[0] && time <= this.times[this.times.length - 1];
  }

  /** Where a point is: where it says, else where the training was when it was logged. @param {Point} point */
  of(point) {
    const own = this.spread ? NaN : point[this.axis];
    return Number.isFinite(own) ? own : this.at(point.time);
  }

  /** NaN before the first step and after the last. @param {number} time */
  within(time) {
    return this.covers(time) ? this.at(time) : NaN;
  }

  /** NaN before the first step. @param {number} time */
  at(time) {
    const { times, places } = this;
    let [low, high] = [0, times.length - 1];
    if (!this.known || !Number.isFinite(time) || time < times[0]) return NaN;
    if (time >= times[high]) return places[high];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    return places[low] + ((places[high] - places[low]) * (time - times[low])) / (times[high] - times[low]);
  }
}

/**
 * Whether a script prints whole epochs only, the same with many points: `[2,   100] loss: 1.9`.
 * @param {Point[]} points
 */
function repeats(points) {
  const later = points.slice(1);
  const again = later.some((p, i) => p.epoch === points[i].epoch);
  const next = later.some((p, i) => p.epoch !== points[i].epoch);
  return again && next && points.every((p) => Number.isInteger(p.epoch));
}

/** [time, epochs done]: an epoch's points are spread from its beginning to that of the next. @param {Point[]} points */
function throughEpochs(points) {
  const begins = points.filter((p, i) => !i || p.epoch !== points[i - 1].epoch);
  const first = begins.some((p) => p.epoch === 0) ? 0 : 1; // counted from 0 or from 1
  const knots = begins.map((p) => [p.time, p.epoch - first]);
  const [[before], [begun, done]] = knots.slice(-2);
  const last = points[points.length - 1].time;
  if (last > begun) knots.push([last, done + Math.min((last - begun) / (begun - before), 1)]);
  return knots;
}
