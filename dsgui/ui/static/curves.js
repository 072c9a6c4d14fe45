// A run's curves in the page: what the server told so far, in stretches that never grow beyond what a screen shows.
//
// A stretch is one point, or of many points the lowest and the highest and their mean. When there are too many
// stretches, each two become one: no spike is lost, and nothing is asked of the server again.

const MOST_STRETCHES = 3000;
const MOST_ODD = 200;
const AXES = ["step", "time", "epoch"];

const number = (value) => (typeof value === "number" ? value : Number(value)); // "NaN", "Infinity": JSON has none

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

function merged(a, b) {
  const ends = [a.low, a.high, b.low, b.high].filter((point) => Number.isFinite(point.y));
  if (!ends.length) return { low: a.low, high: b.high, mean: NaN, n: a.n + b.n };
  let [low, high] = [ends[0], ends[0]];
  for (const point of ends) {
    if (point.y < low.y) low = point;
    if (point.y > high.y) high = point;
  }
  const weigh = (one) => (Number.isFinite(one.mean) ? one.mean * one.n : 0);
  const known = (Number.isFinite(a.mean) ? a.n : 0) + (Number.isFinite(b.mean) ? b.n : 0);
  return { low, high, mean: (weigh(a) + weigh(b)) / known, n: a.n + b.n };
}

// The stretches of one answer's curve.
function* stretches(one, x) {
  const values = one.v.map(number);
  const axes = x[one.x];
  const point = (i) => ({ step: axes.step[i], time: axes.time[i], epoch: axes.epoch[i], y: values[i] });
  if (!one.size) {
    for (let i = 0; i < values.length; i += 1) {
      const p = point(i);
      yield { low: p, high: p, mean: p.y, n: 1 };
    }
    return;
  }
  for (let i = 0; i < one.mean.length; i += 1) {
    const [a, b] = [point(2 * i), point(2 * i + 1)];
    const n = Math.min(one.size, one.count - i * one.size);
    yield { low: a.y <= b.y ? a : b, high: a.y <= b.y ? b : a, mean: number(one.mean[i]), n };
  }
}

function axesOf(answer) {
  const lengths = new Map(
    answer.y.flatMap((one) => [[one.x, one.v.length], ...(one.odd ? [[one.odd.x, one.odd.v.length]] : [])]),
  );
  return answer.x.map((coded, i) =>
    Object.fromEntries(AXES.map((axis) => [axis, decoded(coded[axis], lengths.get(i) || 0)])),
  );
}

export class Curve {
  constructor(id, info) {
    this.ids = [id];
    Object.assign(this, info); // name, kind, rank, source, node
    this.stretches = [];
    this.odd = []; // where a value was NaN or infinite
    this.count = 0;
    this.detail = null; // finer stretches of a part that is looked at closely
    this.version = 0;
  }

  take(found, odd, last) {
    this.lastValue = last;
    for (const one of found) {
      this.stretches.push(one);
      this.count += one.n;
      this.order(one);
      if (one.n === 1 && !Number.isFinite(one.low.y) && this.kind !== "sample") this.odd.push(one.low);
    }
    this.odd.push(...odd);
    if (this.odd.length > 2 * MOST_ODD) this.odd.splice(MOST_ODD, this.odd.length - 2 * MOST_ODD); // the first and the last
    // A table of telemetry that is taken up again brings what lies between.
    if (this.ids.length > 1) this.stretches.sort((a, b) => a.low.time - b.low.time);
    while (this.stretches.length > MOST_STRETCHES) this.halve();
    this.version += 1;
  }

  // What a later pattern found in the past has no time; where the lines say no step either, their order is one.
  order(one) {
    for (const point of [one.low, one.high])
      if (!Number.isFinite(point.time) && !Number.isFinite(point.step)) point.step = this.count;
  }

  halve() {
    const half = [];
    for (let i = 0; i + 1 < this.stretches.length; i += 2) half.push(merged(this.stretches[i], this.stretches[i + 1]));
    if (this.stretches.length % 2) half.push(this.stretches[this.stretches.length - 1]);
    this.stretches = half;
  }

  // Whether two of its points have different places on an axis.
  spans(axis) {
    if (this.spanned?.version !== this.version) this.spanned = { version: this.version };
    this.spanned[axis] ??= this.differs(axis);
    return this.spanned[axis];
  }

  differs(axis) {
    let first = NaN;
    for (const { low, high } of this.stretches) {
      for (const { [axis]: at } of [low, high]) {
        if (Number.isFinite(at) && at !== first) {
          if (Number.isFinite(first)) return true;
          first = at;
        }
      }
    }
    return false;
  }

  get last() {
    return this.stretches[this.stretches.length - 1];
  }

  // The stretches to draw: finer ones where they were asked for, and on from the last of these what came since.
  drawn() {
    if (!this.detail) return this.stretches;
    const { axis, low, found } = this.detail;
    const last = found.length ? found[found.length - 1].high[axis] : low;
    return [
      ...this.stretches.filter((one) => one.low[axis] < low),
      ...found,
      ...this.stretches.filter((one) => one.low[axis] > last),
    ];
  }
}

// Whether a curve tells more than another of its name: as many points with steps are more than without.
function fuller(curve, other) {
  if (Math.abs(curve.count - other.count) > 0.05 * Math.min(curve.count, other.count)) return curve.count > other.count;
  return curve.spans("step") && !other.spans("step");
}

// Every curve of one run.
export class Curves {
  constructor() {
    this.all = new Map();
    this.same = new Map(); // telemetry begins another table when a card comes or goes: its curves go on
  }

  add(id, info) {
    const key = JSON.stringify([info.node, info.name]);
    if (info.kind === "sample" && this.same.has(key)) {
      this.same.get(key).ids.push(id);
      this.all.set(id, this.same.get(key));
      return;
    }
    const curve = new Curve(id, info);
    this.all.set(id, curve);
    if (info.kind === "sample") this.same.set(key, curve);
  }

  get each() {
    return new Set(this.all.values());
  }

  take(answer) {
    for (const [id, info] of Object.entries(answer.series)) if (!this.all.has(id)) this.add(id, info);
    const x = axesOf(answer);
    for (const one of answer.y) {
      const curve = this.all.get(one.id);
      if (!curve) continue;
      const odd = one.odd ? [...stretches({ x: one.odd.x, v: one.odd.v }, x)].map((place) => place.low) : [];
      curve.take(stretches(one, x), odd, number(one.size ? one.last : one.v[one.v.length - 1]));
    }
  }

  // Finer stretches for a part, as the server answers to `window`.
  refine(answer, axis, low) {
    const x = axesOf(answer);
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
    for (const curve of this.each)
      if (curve.detail) {
        curve.detail = null;
        curve.version += 1;
      }
  }

  // Of curves of one name from several sources, the fullest; where two are as full, the one that has steps (a script's
  // event file may know them where its lines don't), else the one met first.
  best() {
    const chosen = new Map();
    for (const curve of this.each) {
      const key = JSON.stringify([curve.kind, curve.name, curve.rank || 0, curve.node]);
      const other = chosen.get(key);
      if (curve.count && (!other || fuller(curve, other))) chosen.set(key, curve);
    }
    return [...chosen.values()];
  }

  // The curve that tells at what time which step was done, or which epoch: the fullest of the training's that has two
  // of them, else of the evaluations'.
  clock(axis) {
    const fullest = (kind) =>
      [...this.each].filter((curve) => curve.kind === kind && curve.spans(axis)).sort((a, b) => b.count - a.count)[0];
    return fullest("train") || fullest("eval") || null;
  }
}

// At which step or epoch a time was, between logged points.
export class Clock {
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

  covers(time) {
    return this.known && time >= this.times[0] && time <= this.times[this.times.length - 1];
  }

  // Where a point is: where it says, else where the training was when it was logged.
  of(point) {
    const own = this.spread ? NaN : point[this.axis];
    return Number.isFinite(own) ? own : this.at(point.time);
  }

  at(time) {
    const { times, places } = this;
    let [low, high] = [0, times.length - 1];
    if (!this.known || !Number.isFinite(time) || time < times[0]) return NaN; // before the first step there is none
    if (time >= times[high]) return places[high];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    return places[low] + ((places[high] - places[low]) * (time - times[low])) / (times[high] - times[low]);
  }
}

// Whether a script prints whole epochs only, the same with many points: `[2,   100] loss: 1.9`.
function repeats(points) {
  const [again, next] = [
    (p, i) => i && p.epoch === points[i - 1].epoch,
    (p, i) => i && p.epoch !== points[i - 1].epoch,
  ];
  return points.every((p) => Number.isInteger(p.epoch)) && points.some(again) && points.some(next);
}

// [time, epochs done]: an epoch's points are spread from its beginning to that of the next.
function throughEpochs(points) {
  const begins = points.filter((p, i) => !i || p.epoch !== points[i - 1].epoch);
  const first = begins.some((p) => p.epoch === 0) ? 0 : 1; // counted from 0 or from 1
  const knots = begins.map((p) => [p.time, p.epoch - first]);
  const [[before], [begun, done]] = knots.slice(-2);
  const last = points[points.length - 1].time;
  if (last > begun) knots.push([last, done + Math.min((last - begun) / (begun - before), 1)]);
  return knots;
}
