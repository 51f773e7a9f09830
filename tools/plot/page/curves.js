'use strict';
// Draws the curves again, from the JSON that tandem-plot put into the page, as the controls say. No libraries, no network.
const root = document.documentElement;
root.dataset.errors = '0';
addEventListener('error', e => { root.dataset.errors = +root.dataset.errors + 1; root.dataset.error = e.message; });

const data = JSON.parse(document.getElementById('data').textContent);
const smoothing = document.getElementById('smoothing'), log = document.getElementById('log');
const tip = document.getElementById('tip');
// As in tools/plot/draw_chart.cc.
const W = 640, H = 300, LEFT = 58, RIGHT = 20, TOP = 10, BOTTOM = 28, MAX_MARKS = 60;

function svg(tag, attributes, text) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}
const hidden = kind => new Set([...document.querySelectorAll(`[data-${kind}]`)].filter(i => !i.checked).map(i => +i.dataset[kind]));
const short = v => String(Math.round(v * 10) / 10);

// The exponential moving average of the columns' means, without the pull of its start: the mean of what was seen so far,
// weighted by `weight` to the power of the distance.
function smooth(values, weight) {
  let sum = 0, total = 0;
  return values.map(v => {
    if (v === null) return null;
    sum = sum * weight + v;
    total = total * weight + 1;
    return sum / total;
  });
}

function label(value, largest, step) {
  if (value === 0) return '0';
  if (largest >= 1e9 || largest < 1e-3) return String(+value.toPrecision(3)).replace('e+', 'e');
  const unit = largest >= 1e6 ? 1e6 : largest >= 1e4 ? 1e3 : 1;
  return (value / unit).toFixed(Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9))) + {1e6: 'M', 1e3: 'k', 1: ''}[unit];
}
function roundTicks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find(f => power * f >= rough) || 10), largest = Math.max(Math.abs(low), Math.abs(high));
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high && ticks.length < 100; ++i) ticks.push([i * step, label(i * step, largest, step)]);
  return ticks;
}
// Powers of ten, with numbers between them where there is room.
function logTicks(low, high) {
  const decades = Math.log10(high / low), every = Math.max(1, Math.ceil(decades / 6)), ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); ++e) {
    if (e % every) continue;
    for (const f of decades < 1.2 ? [1, 1.5, 2, 3, 5, 7] : decades < 3 ? [1, 2, 5] : [1]) {
      const value = +(f * 10 ** e).toPrecision(3);
      if (value >= low && value <= high) ticks.push([value, value >= 1e4 || value < 1e-3 ? value.toExponential().replace('e+', 'e') : String(value)]);
    }
  }
  return ticks;
}
function drawable(low, high) {
  if (!(low <= high)) return [0, 1];
  if (low < high) return [low, high];
  const more = low === 0 ? 1 : Math.abs(low) / 10;
  return [low - more, high + more];
}
const MARKS = ['m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z', 'm0-4l4 4l-4 4l-4-4z', 'm-3-3h6v6h-6z', 'm0-4l4 7h-8z'];

// What is drawn: the runs and parts that are not hidden.
function visible(chart) {
  const runs = hidden('run'), parts = hidden('part');
  return chart.curves.filter(c => !runs.has(c.run) && !parts.has(c.part));
}
function stepRange() {
  let low = Infinity, high = -Infinity;
  for (const chart of data.charts) {
    for (const c of visible(chart)) { low = Math.min(low, c.x[0]); high = Math.max(high, c.x[c.x.length - 1]); }
  }
  if (low > 0 && low <= 0.1 * high) low = 0;
  return drawable(low, high);
}

// A break where there is no value, or none that the axis has.
function linePath(c, low, high, x, y) {
  let d = '', lastY = 0, broken = true;
  const to = (px, py) => { d += broken ? `M${short(px)} ${short(py)}l0 0` : `L${short(px)} ${short(py)}`; broken = false; lastY = py; };
  c.x.forEach((step, i) => {
    const a = low[i] === null ? NaN : y(low[i]), b = high[i] === null ? NaN : y(high[i]), at = x(step);
    if (!isFinite(a) || !isFinite(b)) { broken = true; return; }
    const up = broken || Math.abs(a - lastY) <= Math.abs(b - lastY);
    to(at, up ? a : b);
    if (a !== b) to(at, up ? b : a);
  });
  return d;
}

function draw(figure, chart, steps) {
  const weight = +smoothing.value, curves = visible(chart), logarithmic = log.checked && chart.logarithmic;
  let low = Infinity, high = -Infinity;
  const see = v => { if (v !== null && (!logarithmic || v > 0)) { low = Math.min(low, v); high = Math.max(high, v); } };
  for (const c of curves) {
    // Evaluations are not smoothed: each is of many examples.
    c.marked = c.part > 0 && c.x.length <= MAX_MARKS;
    c.shown = weight > 0 && !c.marked ? smooth(c.y, weight) : c.y;
    (c.low || c.y).forEach(see);
    (c.high || c.y).forEach(see);
  }
  if (chart.fromZero && !logarithmic) see(0);
  let y, ticks;
  if (logarithmic) {
    if (!(low <= high)) [low, high] = [1, 10];
    if (low === high) [low, high] = [low / 2, high * 2];
    const margin = (high / low) ** 0.05;
    [low, high] = [low / margin, high * margin];
    y = v => TOP + (H - TOP - BOTTOM) * Math.log(high / v) / Math.log(high / low);
    ticks = logTicks(low, high);
  } else {
    [low, high] = drawable(low, high);
    const margin = 0.05 * (high - low);
    if (!(chart.fromZero && low === 0)) low -= margin;
    high += margin;
    y = v => TOP + (H - TOP - BOTTOM) * (high - v) / (high - low);
    ticks = roundTicks(low, high, 7);
  }
  const x = s => LEFT + (W - LEFT - RIGHT) * (s - steps[0]) / (steps[1] - steps[0]);
  const parts = [];
  for (const [value, text] of ticks) {
    const at = short(y(value));
    parts.push(svg('path', {class: 'grid', d: `M${LEFT} ${at}H${W - RIGHT}`}), svg('text', {x: LEFT - 7, y: at, dy: 4, 'text-anchor': 'end'}, text));
  }
  for (const [value, text] of roundTicks(steps[0], steps[1], 6)) {
    parts.push(svg('text', {x: short(x(value)), y: H - 8, 'text-anchor': 'middle'}, text));
  }
  for (const c of curves) {
    const classes = `c${c.colour} p${c.part % 4}`;
    if (c.low || c.shown !== c.y) {
      parts.push(svg('path', {class: `line raw ${classes}`, d: linePath(c, c.low || c.y, c.high || c.y, x, y)}));
    }
    parts.push(svg('path', {class: `line ${classes}`, d: linePath(c, c.shown, c.shown, x, y)}));
    if (c.marked) {
      parts.push(svg('path', {class: `mark ${classes}`, d: c.x.map((s, i) =>
        c.y[i] === null || !isFinite(y(c.y[i])) ? '' : `M${short(x(s))} ${short(y(c.y[i]))}${MARKS[c.part % 4]}`).join('')}));
    }
  }
  const picture = figure.querySelector('svg');
  picture.replaceChildren(...parts);
  picture.onpointermove = e => point(e, picture, curves, steps, x, y);
  picture.onpointerleave = leave;
}

// The index of the step that is nearest to `step`.
function nearest(xs, step) {
  let a = 0, b = xs.length - 1;
  while (a < b) {
    const middle = (a + b) >> 1;
    if (xs[middle] < step) a = middle + 1; else b = middle;
  }
  return a > 0 && step - xs[a - 1] < xs[a] - step ? a - 1 : a;
}
function leave() {
  tip.hidden = true;
  document.querySelectorAll('.cursor, .dot').forEach(e => e.remove());
}
function point(e, picture, curves, steps, x, y) {
  leave();
  const box = picture.getBoundingClientRect();
  const step = steps[0] + ((e.clientX - box.left) / box.width * W - LEFT) / (W - LEFT - RIGHT) * (steps[1] - steps[0]);
  if (!curves.length || step < steps[0] || step > steps[1]) return;
  // The step of the curve that has one nearest to the pointer.
  const at = curves.map(c => c.x[nearest(c.x, step)]).reduce((a, b) => Math.abs(b - step) < Math.abs(a - step) ? b : a);
  picture.append(svg('path', {class: 'cursor', d: `M${x(at)} ${TOP}V${H - BOTTOM}`}));
  const rows = [];
  for (const c of curves) {
    const i = nearest(c.x, at), value = c.y[i];
    const row = document.createElement('tr'), swatch = document.createElement('i');
    const cells = [[data.runs.length > 1 ? data.runs[c.run] : '', data.parts[c.part]].filter(Boolean).join(' '), `step ${c.x[i]}`,
      value === null ? 'not finite' : String(+value.toPrecision(5)),
      c.low && value !== null && c.low[i] < c.high[i] ? `${+c.low[i].toPrecision(4)} to ${+c.high[i].toPrecision(4)}` : ''];
    for (const text of cells) {
      const cell = document.createElement('td');
      cell.textContent = text;
      row.append(cell);
    }
    swatch.className = `c${c.colour}`;
    row.firstChild.prepend(swatch);
    rows.push(row);
    if (c.shown[i] !== null && isFinite(y(c.shown[i]))) picture.append(svg('circle', {class: `dot c${c.colour}`, r: 3.5, cx: x(c.x[i]), cy: y(c.shown[i])}));
  }
  const table = document.createElement('table');
  table.append(...rows);
  tip.replaceChildren(table);
  tip.hidden = false;
  const left = e.clientX + 18 + tip.offsetWidth > innerWidth ? e.clientX - 18 - tip.offsetWidth : e.clientX + 18;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 8))}px`;
}

const figures = [...document.querySelectorAll('figure')];
function drawAll() {
  leave();
  document.getElementById('smoothed').textContent = smoothing.value;
  const steps = stepRange();
  figures.forEach(f => draw(f, data.charts[+f.dataset.chart], steps));
  root.dataset.curves = document.querySelectorAll('figure .line:not(.raw)').length;
}
// "#smoothing=0.9&scale=log": the controls as a link sets them.
const wanted = new URLSearchParams(location.hash.slice(1));
if (wanted.has('smoothing')) smoothing.value = wanted.get('smoothing');
log.checked = wanted.get('scale') === 'log';
root.classList.add('ready');
document.querySelectorAll('header input').forEach(i => i.addEventListener('input', drawAll));
drawAll();
root.dataset.charts = figures.length;
root.dataset.ready = '1';
