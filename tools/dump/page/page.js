'use strict';
// Draws the page from the JSON that tandem-dump put into it. No libraries, no network.
const root = document.documentElement;
root.dataset.errors = '0';
addEventListener('error', e => { root.dataset.errors = +root.dataset.errors + 1; root.dataset.error = e.message; });

const data = JSON.parse(document.getElementById('data').textContent);
const view = document.getElementById('view');
const search = document.getElementById('search');
const found = document.getElementById('found');
const tip = document.getElementById('tip');

// An element with attributes (functions are listeners) and children (strings are text).
function el(tag, attributes, ...children) {
  const svg = ['svg', 'path', 'rect', 'text', 'line', 'title'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (typeof v === 'function') e.addEventListener(k, v);
    else if (v !== undefined && v !== null && v !== false) e.setAttribute(k, v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined) e.append(c);
  return e;
}
const count = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;
const digits = (x, n = 3) => Number(x.toPrecision(n)).toLocaleString('en', {maximumSignificantDigits: n});
function bytes(n) {
  for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]]) {
    if (n >= size) return `${digits(n / size)} ${unit}`;
  }
  return `${n} B`;
}
function time(us) {
  return us >= 1e6 ? `${digits(us / 1e6)} s` : us >= 1e3 ? `${digits(us / 1e3)} ms` : `${digits(us)} \u00b5s`;
}
// Colours that stay apart for neighbours; the same for the same kernel everywhere.
const hue = i => `hsl(${Math.round(i * 137.508 + 200) % 360} var(--sat) var(--light))`;
const kernelIndex = new Map(data.kernels.map((k, i) => [k.name, i]));
const libraryColour = 'var(--faint)';
function showTip(e, text) {
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = `${Math.min(e.clientX + 14, innerWidth - 480)}px`;
  tip.style.top = `${Math.min(e.clientY + 14, innerHeight - 90)}px`;
}
const hideTip = () => { tip.hidden = true; };
const sum = list => list.reduce((a, b) => a + b, 0);
const matches = (text, words) => words.every(w => text.includes(w));
const query = () => search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);

// ---------------------------------------------------------------- overview
function overview() {
  const e = data.executable, m = data.memory, c = data.costs;
  const card = (value, label) => el('div', {class: 'card'}, el('b', {}, String(value)), el('span', {}, label));
  const skeletons = {};
  for (const k of data.kernels) skeletons[k.skeleton] = (skeletons[k.skeleton] || 0) + 1;
  const library = data.commands.filter(s => s.primitive && s.primitive !== 'PackWeights').length;
  const cards = el('div', {class: 'cards'},
    card(e.mode, `program, ${count(data.replicas.length, 'replica')}`),
    card(`${c.rows} rows`, `a step: ${e.lanes} lanes of ${e.rows_per_lane}, microbatches of ${e.microbatch_rows}`),
    card(data.kernels.length, `own kernels: ${Object.entries(skeletons).map(([k, n]) => `${n} ${k}`).join(', ') || 'none'}`),
    card(library, 'library calls in the program'),
    card(data.collectives.length, 'collectives'),
    card(bytes(m.peak_bytes_per_device), 'memory per device at the peak'),
    c.measured_us ? card(time(c.measured_us), `a step, measured (median of ${c.runs}); ${time(c.undisturbed_us)} with every call at its median`) : null,
    card(time(c.expected_us), `a step, expected on ${c.machine} with ${count(c.threads, 'thread')}`),
    card(time(c.limit_us), c.measured_us ? `the machine's limit; the step reaches ${digits(100 * c.of_limit)} % of it` : 'the machine\u2019s limit for a step'));
  const top = [...c.commands].sort((a, b) => b.share - a.share).slice(0, 10);
  view.append(cards, el('h2', {}, 'Where the time goes'),
    ...(c.note ? [el('p', {class: 'note'}, c.note)] : []),
    el('p', {class: 'note'}, c.measured_us ? 'Share of the threads\u2019 measured time.' : 'Share of the expected time; run with --costs to measure.'),
    commandTable(top), el('h2', {}, 'Memory of a device'));
  const lanes = m.lanes_per_device * m.lane_slot_bytes;
  const parts = [['parameters', m.parameter_bytes], ['optimizer slots and statistics', m.slot_bytes], ['microbatch arena of a thread', m.microbatch_arena_bytes_per_thread],
    [`${m.lanes_per_device} lane slots`, lanes], ['step arena', m.step_arena_bytes], ['batch arena', m.batch_arena_bytes]].filter(p => p[1] > 0);
  const all = sum(parts.map(p => p[1])) || 1;
  view.append(
    el('div', {class: 'stack'}, parts.map(([name, n], i) => el('div', {
      style: `width:${100 * n / all}%;background:${hue(i)}`, mousemove: ev => showTip(ev, `${name}: ${bytes(n)}`), mouseleave: hideTip}))),
    el('div', {class: 'legend'}, parts.map(([name, n], i) => el('span', {}, el('i', {style: `background:${hue(i)}`}), `${name} ${bytes(n)}`))),
    el('h2', {}, 'Program'),
    el('dl', {class: 'note mono'}, [['file', e.file], ['key', e.key], ['compiled by', e.producer], ['target', e.target]].map(
      ([k, v]) => el('div', {}, `${k}: ${v || '\u2013'}`))));
  found.textContent = '';
}

// ---------------------------------------------------------------- costs
const columns = [
  ['share', 'share', s => s.share], ['calls', 'calls', s => s.calls], ['expected', 'expected', s => s.expected_us],
  ['measured', 'measured', s => s.measured_us ?? -1], ['gflops', 'GFLOP/s', s => s.gflops ?? -1], ['gbps', 'GB/s', s => s.gbps ?? -1],
  ['of_limit', 'of limit', s => s.of_limit ?? -1], ['bound', 'bound', s => s.bound], ['command', 'command', s => s.id]];
const titles = {share: 'of the threads\u2019 time', calls: 'in one run of the program', expected: 'per call, from the machine\u2019s constants',
  measured: 'the median call', of_limit: 'time the machine needs at least / time taken', bound: 'what limits it on this machine'};
function commandTable(commands, sortBy, onSort) {
  const measured = data.costs.measured_us !== undefined;
  const shown = columns.filter(c => measured || !['measured', 'gflops', 'gbps', 'of_limit'].includes(c[0]));
  const most = Math.max(...commands.map(s => s.share), 1e-9);
  const number = x => x === undefined ? '\u2013' : digits(x);
  const head = el('tr', {}, shown.map(([key, label]) => el('th', {
    class: ['bound', 'command', 'share'].includes(key) ? '' : 'n', title: titles[key], 'aria-sort': sortBy === key ? 'descending' : null,
    click: onSort ? () => onSort(key) : undefined}, label)));
  return el('table', {class: 'costs'}, el('thead', {}, head), el('tbody', {}, commands.map(s => {
    const kernel = s.detail.split(' ')[0], colour = kernelIndex.has(kernel) ? hue(kernelIndex.get(kernel)) : 'transparent';
    return el('tr', {},
      el('td', {class: 'meter', style: `border-left:5px solid ${s.kind === 'LibraryCall' ? libraryColour : colour}`},
        el('div', {style: `--w:${100 * s.share / most}%`}, `${(100 * s.share).toFixed(1)} %`)),
      el('td', {class: 'n'}, String(s.calls)), el('td', {class: 'n'}, time(s.expected_us)),
      measured ? [s.measured_us === undefined ? '\u2013' : time(s.measured_us), number(s.gflops), number(s.gbps), number(s.of_limit)].map(
        t => el('td', {class: 'n'}, t)) : [],
      el('td', {}, el('span', {class: `bound ${s.bound}`}, s.bound)),
      el('td', {}, s.name, el('div', {class: 'detail'}, [s.kind, s.detail, s.section, s.source].filter(Boolean).join(' \u00b7 '))));
  })));
}
let costOrder = 'share';
function costs() {
  const words = query(), c = data.costs;
  let commands = c.commands.filter(s => matches(`${s.name} ${s.detail} ${s.kind} ${s.source} ${s.bound}`.toLowerCase(), words));
  const key = columns.find(x => x[0] === costOrder)[2];
  commands = [...commands].sort((a, b) => costOrder === 'command' ? key(a) - key(b) : typeof key(a) === 'string' ? key(a).localeCompare(key(b)) : key(b) - key(a));
  view.append(el('p', {class: 'note'},
    `One call of each command on ${c.machine} with ${count(c.threads, 'thread')}. Expected ${time(c.expected_us)} a run, the machine\u2019s limit ${time(c.limit_us)}` +
    (c.measured_us ? `, measured ${time(c.measured_us)}: ${digits(100 * c.of_limit)} % of the limit; threads were idle ${digits(100 * c.idle_share)} % of the time.` : '. Run with --costs to measure.')),
    ...(c.note ? [el('p', {class: 'note'}, c.note)] : []), commandTable(commands, costOrder, k => { costOrder = k; show(); }));
  found.textContent = words.length ? `${commands.length} found` : '';
}

// ---------------------------------------------------------------- graph
// Ops of a phase: [op, name, source, type, kernel, inputs, parent].
const OP = 0, NAME = 1, SOURCE = 2, TYPE = 3, KERNEL = 4, INPUTS = 5, PARENT = 6;
const clusterOf = new Map();  // "op name" -> kernel, for the phases before kernels exist
data.kernels.forEach((k, i) => k.ops.forEach(o => { if (o.name && !clusterOf.has(`${o.op} ${o.name}`)) clusterOf.set(`${o.op} ${o.name}`, i); }));
const phaseData = name => {
  const p = data.phases.find(x => x.name === name);
  return p.same ? phaseData(p.same) : p;
};
const graphs = new Map();
function graphOf(phase) {
  const p = phaseData(phase);
  if (graphs.has(p.name)) return graphs.get(p.name);
  const users = p.ops.map(() => []);
  p.ops.forEach((o, i) => o[INPUTS].forEach(j => users[j].push(i)));
  const kernel = [];
  p.ops.forEach((o, i) => {
    const parent = o[PARENT] >= 0 ? kernel[o[PARENT]] : undefined;
    kernel[i] = o[KERNEL] ? kernelIndex.get(o[KERNEL]) : parent ?? clusterOf.get(`${o[OP]} ${o[NAME]}`);
  });
  // The tree of scopes inside of regions. A group has a title and children, an op has its index.
  const tree = {title: '', children: [], scopes: new Map(), parent: null, depth: 0};
  const nodeOf = [];
  const scope = (at, title) => {
    if (!at.scopes.has(title)) {
      const g = {title, children: [], scopes: new Map(), parent: at, depth: at.depth + 1};
      at.scopes.set(title, g);
      at.children.push(g);
    }
    return at.scopes.get(title);
  };
  p.ops.forEach((o, i) => {
    let at = o[PARENT] >= 0 ? nodeOf[o[PARENT]] : tree;
    const path = o[OP] === 'exec.map_microbatches' ? ['every microbatch'] : o[OP] === 'argument' ? ['inputs, scalars and variables', o[NAME]] : o[NAME] ? o[NAME].split('/') : [o[OP]];
    if (o[PARENT] < 0 || !p.ops[o[PARENT]][KERNEL]) for (const part of path.slice(0, -1)) at = scope(at, part);
    const node = {op: i, title: path[path.length - 1], children: [], scopes: new Map(), parent: at, depth: at.depth + 1};
    nodeOf[i] = node;
    at.children.push(node);
  });
  // A scope of one op or scope is a row with it: "conv2d/Relu".
  const merge = n => {
    n.children.forEach((c, i) => {
      while (c.op === undefined && c.children.length === 1) {
        const only = c.children[0];
        only.title = `${c.title}/${only.title}`;
        only.parent = n;
        n.children[i] = c = only;
      }
      merge(c);
    });
  };
  // A region has the names of what is in it.
  const regions = n => n.children.forEach(c => {
    if (c.op !== undefined && p.ops[c.op][OP] === 'exec.map_microbatches') {
      const names = [...new Set(c.children.map(k => k.title.split('/')[0]))];
      c.title += `: ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', \u2026' : ''}`;
    }
    regions(c);
  });
  const level = n => n.children.forEach(c => { c.depth = n.depth + 1; level(c); });
  merge(tree);
  regions(tree);
  level(tree);
  const size = n => n.size = (n.op !== undefined ? 1 : 0) + sum(n.children.map(size));
  size(tree);
  const graph = {ops: p.ops, users, kernel, tree, nodeOf};
  graphs.set(p.name, graph);
  return graph;
}

let phase = data.phases.some(p => p.name === 'fusion') ? 'fusion' : data.phases[0]?.name;
let picked = -1;
const open = new Map();  // phase -> set of open nodes
function openNodes(graph, name) {
  if (!open.has(name)) {
    const set = new Set();
    // As much as fits on a page: regions and their scopes first.
    const visit = (n, room) => {
      for (const c of n.children) {
        if (c.children.length && (room === Infinity || c.size <= room) && !c.title.startsWith('inputs, scalars')) {
          set.add(c);
          visit(c, c.op !== undefined && !graph.ops[c.op][KERNEL] ? 8 : 0);
        }
      }
    };
    visit(graph.tree, graph.tree.size < 80 ? Infinity : 0);
    for (const c of graph.tree.children) if (c.size * 3 > graph.tree.size) { set.add(c); visit(c, 8); }
    open.set(name, set);
  }
  return open.get(name);
}

function graphView() {
  if (!phase) { view.append(el('p', {}, 'The executable has no stored IR.')); return; }
  const graph = graphOf(phase), set = openNodes(graph, phaseData(phase).name), words = query();
  const hits = new Set();
  if (words.length) {
    graph.ops.forEach((o, i) => { if (matches(`${o[OP]} ${o[NAME]} ${o[SOURCE]} ${o[TYPE]} ${o[KERNEL]}`.toLowerCase(), words)) hits.add(i); });
    if (hits.size <= 400) for (const i of hits) for (let n = graph.nodeOf[i].parent; n; n = n.parent) set.add(n);
  }
  found.textContent = words.length ? `${hits.size} found` : '';
  const rows = new Map();  // node -> row, of what is visible
  const lines = el('svg', {});
  const list = el('div', {class: 'graph', mouseleave: () => light(picked)}, lines);
  const panel = el('div', {class: 'panel'});
  view.append(
    el('div', {class: 'chips'}, el('span', {class: 'note'}, 'After phase'), data.phases.filter(p => phaseData(p.name).ops.length).map(p => el('a', {
      'aria-current': p.name === phase ? 'true' : null, title: p.same ? `the same as ${p.same}` : null,
      click: () => { phase = p.name; picked = -1; show(); }}, p.name)),
      el('span', {class: 'note'}, `${graph.ops.length} ops`)),
    el('p', {class: 'note'}, 'A colour is a fusion cluster: the ops of one kernel. Grey are library calls. Point at an op to see what it reads (blue) and who reads it (orange); click to keep it.'),
    el('div', {class: 'split'}, list, panel));
  root.dataset.nodes = graph.ops.length;

  const colour = i => graph.kernel[i] !== undefined ? hue(graph.kernel[i]) : graph.ops[i][OP].startsWith('library ') ? libraryColour : 'transparent';
  // A scope whose ops all went into one cluster has its colour.
  const colourOf = n => {
    if (n.op !== undefined) return colour(n.op);
    const inner = new Set(n.children.map(colourOf));
    return inner.size === 1 ? [...inner][0] : 'transparent';
  };
  function add(n) {
    const o = n.op !== undefined ? graph.ops[n.op] : null, folds = n.children.length > 0, isOpen = set.has(n);
    const toggle = () => { isOpen ? set.delete(n) : set.add(n); const y = scrollY; show(); scrollTo(0, y); };
    const row = el('div', {
      class: `row${o ? '' : ' scope'}${n.op === picked && o ? ' picked' : ''}${o && hits.has(n.op) ? ' hit' : ''}`,
      style: `padding-left:${8 + (n.depth - 1) * 18}px;border-left-color:${colourOf(n)}`,
      mouseenter: () => light(o ? n.op : -1, n), click: () => { if (o) { picked = picked === n.op ? -1 : n.op; mark(); light(picked); describe(picked); } else toggle(); }},
      el('span', {class: 'twist', click: folds ? e => { e.stopPropagation(); toggle(); } : undefined}, folds ? isOpen ? '\u25be' : '\u25b8' : ''),
      el('span', {class: o && !o[NAME] && n.title.startsWith('td.') ? 'label op' : 'label', title: o ? o[NAME] : null}, n.title || '(no name)'));
    if (folds && !isOpen) row.append(el('span', {class: 'count'}, count(n.size - (o ? 1 : 0), 'op')));
    if (o) {
      const k = graph.kernel[n.op] !== undefined ? data.kernels[graph.kernel[n.op]] : null;
      const fused = o[KERNEL] && k ? k.ops.map(x => x.op.replace('td.', '')).filter(x => x !== 'constant').join(' ') : '';
      row.append(el('span', {class: 'op mono', title: fused || null}, n.title === o[OP] || n.title.startsWith('every microbatch') ? '' : fused || o[OP]), el('span', {class: 'type mono'}, o[TYPE]));
      row.append(el('span', {class: 'kernel mono'}, k ? `${k.name}${o[KERNEL] ? `, ${k.skeleton}` : ''}` : ''));
    }
    rows.set(n, row);
    list.append(row);
    if (isOpen) n.children.forEach(add);
  }
  graph.tree.children.forEach(add);
  root.dataset.rows = rows.size;

  const rowOf = i => { let n = graph.nodeOf[i]; while (n && !rows.has(n)) n = n.parent; return n && rows.get(n); };
  const mark = () => { for (const [n, r] of rows) r.classList.toggle('picked', n.op !== undefined && n.op === picked); };
  function light(i, node) {
    for (const r of rows.values()) r.classList.remove('from', 'to');
    lines.replaceChildren();
    let from = [], to = [], center = null;
    if (i >= 0) {
      from = graph.ops[i][INPUTS]; to = graph.users[i]; center = rowOf(i);
    } else if (node) {  // what a whole scope reads, and who reads it
      const inside = new Set();
      const walk = n => { if (n.op !== undefined) inside.add(n.op); n.children.forEach(walk); };
      walk(node);
      for (const j of inside) {
        from.push(...graph.ops[j][INPUTS].filter(k => !inside.has(k)));
        to.push(...graph.users[j].filter(k => !inside.has(k)));
      }
      center = rows.get(node);
    }
    if (!center) return;
    const box = list.getBoundingClientRect(), middle = r => { const b = r.getBoundingClientRect(); return b.top + b.height / 2 - box.top; };
    lines.setAttribute('height', list.scrollHeight);
    const y0 = middle(center);
    for (const [ids, cls, stroke] of [[from, 'from', 'var(--from)'], [to, 'to', 'var(--to)']]) {
      for (const r of new Set(ids.map(rowOf))) {
        if (!r || r === center) continue;
        r.classList.add(cls);
        const y = middle(r), out = Math.min(84, 12 + Math.abs(y - y0) / 6);
        lines.append(el('path', {d: `M92 ${y0} C ${92 - out} ${y0} ${92 - out} ${y} 92 ${y}`, stroke}));
      }
    }
  }
  function describe(i) {
    panel.replaceChildren();
    if (i < 0 || i >= graph.ops.length) {
      panel.append(el('p', {class: 'note'}, 'Nothing chosen. Click an op.'));
      return;
    }
    const o = graph.ops[i];
    const link = j => el('a', {click: () => { for (let n = graph.nodeOf[j].parent; n; n = n.parent) set.add(n); picked = j; show(); rowsCenter(); }},
      graph.ops[j][NAME] || graph.ops[j][OP]);
    const some = list => list.length > 12 ? [...list.slice(0, 12).map(link), `and ${list.length - 12} more`] : list.length ? list.map(link) : '\u2013';
    const pairs = [['op', el('code', {}, o[OP])], ['result', el('code', {}, o[TYPE] || '\u2013')], ['source', o[SOURCE] || '\u2013'],
      ['reads', some(o[INPUTS])], ['read by', some(graph.users[i])]];
    const k = graph.kernel[i];
    if (k !== undefined) {
      pairs.push(['kernel', `${data.kernels[k].name}, ${data.kernels[k].skeleton}, ${count(data.kernels[k].ops.length, 'op')}`]);
      const users = data.kernels[k].users;
      if (users.length > 1) pairs.push(['launched by', users.map(u => u.name).join(', ')]);
      const cost = data.costs.commands.find(s => s.detail.split(' ')[0] === data.kernels[k].name);
      if (cost) pairs.push(['its cost', `${time(cost.measured_us ?? cost.expected_us)} a call, ${cost.bound}, ${(100 * cost.share).toFixed(1)} %`]);
    }
    panel.append(el('h3', {}, o[NAME] || o[OP]), el('dl', {}, pairs.flatMap(([a, b]) => [el('dt', {}, a), el('dd', {}, b)])));
  }
  const rowsCenter = () => document.querySelector('.row.picked')?.scrollIntoView({block: 'center'});
  // Searching for one op chooses it.
  if (hits.size === 1) { picked = [...hits][0]; mark(); }
  describe(picked);
  if (picked >= 0) light(picked);
  if (hits.size && hits.size <= 400) document.querySelector('.row.hit')?.scrollIntoView({block: 'center'});
}

// ---------------------------------------------------------------- memory
function memory() {
  const words = query();
  let hits = 0;
  view.append(el('p', {class: 'note'}, 'Every block is a value: as wide as it lives, as high as it is large, at its place in the arena. Blocks above each other live at the same time. From left to right: the commands of the program; vertical lines, where there are few, are where sections begin.'));
  const commands = data.timeline.commands, n = Math.max(1, commands.length);
  for (const a of [...data.arenas].sort((p, q) => q.bytes - p.bytes)) {
    const w = Math.max(600, view.clientWidth - 80), h = 340, left = 74, bottom = 22, scale = Math.max(1, a.bytes);
    const x = command => left + (w - left) * command / n, y = offset => (h - bottom) * (1 - offset / scale);
    const svg = el('svg', {width: w, height: h});
    for (const f of [0, .25, .5, .75, 1]) {
      svg.append(el('line', {class: 'axis', x1: left, x2: w, y1: y(f * scale), y2: y(f * scale)}));
      svg.append(el('text', {x: left - 6, y: Math.max(10, y(f * scale) + 4), 'text-anchor': 'end'}, bytes(Math.round(f * scale))));
    }
    for (const [name, first] of data.timeline.sections.length <= 60 ? data.timeline.sections : []) {
      svg.append(el('line', {class: 'axis', x1: x(first), x2: x(first), y1: 0, y2: h - bottom}, el('title', {}, name)));
    }
    a.live.forEach(([name, offset, size, first, last], i) => {
      const hit = words.length && matches(name.toLowerCase(), words);
      hits += hit ? 1 : 0;
      const text = `${name}: ${bytes(size)} at ${offset}, from command ${first} (${commands[first]}) to ${last} (${commands[last]})`;
      svg.append(el('rect', {class: 'b', x: x(first), y: y(offset + size), width: x(last + 1) - x(first), height: Math.max(.6, y(offset) - y(offset + size)),
        fill: words.length && !hit ? 'var(--line)' : hue(i), mousemove: e => showTip(e, text), mouseleave: hideTip}));
      if (y(offset) - y(offset + size) > 15 && x(last + 1) - x(first) > 6.4 * Math.min(name.length, 14)) {
        const room = Math.floor((x(last + 1) - x(first)) / 6.4);
        svg.append(el('text', {class: 'in', x: x(first) + 5, y: y(offset + size / 2) + 4}, name.length > room ? '\u2026' + name.slice(1 - room) : name));
      }
    });
    svg.append(el('text', {x: left, y: h - 6}, `command 0`), el('text', {x: w - 4, y: h - 6, 'text-anchor': 'end'}, `command ${n - 1}`));
    view.append(el('div', {class: 'arena'}, el('strong', {}, a.title), ' ',
      el('span', {class: 'note'}, `${bytes(a.bytes)}; at most ${bytes(a.peak)} live at one time (${digits(100 * a.peak / scale)} %), ${count(a.live.length, 'value')}`), svg));
  }
  if (!data.arenas.length) view.append(el('p', {}, 'The program has no arenas.'));
  found.textContent = words.length ? `${hits} found` : '';
}

// ---------------------------------------------------------------- IR text
const kBlock = 200;  // lines that are laid out together
let irPhase = data.phases[0]?.name, withLocations = false;
// The line without its `loc(...)`s; parentheses in strings do not count.
function withoutLocations(line) {
  let out = '', from = 0, at;
  while ((at = line.indexOf(' loc(', from)) >= 0) {
    out += line.slice(from, at);
    let depth = 0, quoted = false, i = at + 4;
    for (; i < line.length; ++i) {
      const c = line[i];
      if (c === '"') quoted = !quoted;
      else if (!quoted && c === '(') ++depth;
      else if (!quoted && c === ')' && --depth === 0) break;
    }
    from = i + 1;
  }
  return out + line.slice(from);
}
function ir() {
  if (!irPhase) { view.append(el('p', {}, 'The executable has no stored IR.')); return; }
  const p = data.phases.find(x => x.name === irPhase), words = query();
  view.append(el('div', {class: 'chips'}, el('span', {class: 'note'}, 'After phase'), data.phases.map(q => el('a', {
    'aria-current': q.name === irPhase ? 'true' : null, click: () => { irPhase = q.name; show(); }}, q.name)),
    el('a', {style: 'margin-left:auto', click: () => { withLocations = !withLocations; show(); }}, withLocations ? 'Hide locations' : 'Show locations')));
  if (p.same) view.append(el('p', {class: 'note'}, `The same as after phase ${p.same}.`));
  const text = phaseData(irPhase).text;
  if (!text) { view.append(el('p', {class: 'note'}, `Left out here: print it with tandem-dump --phase=${irPhase}.`)); return; }
  const lines = text.split('\n').map(l => withLocations ? l : withoutLocations(l)), box = el('div', {class: 'ir mono'});
  let hits = 0;
  for (let from = 0; from < lines.length; from += kBlock) {
    const numbers = [], parts = [];
    let plain = '';  // lines of one text node
    lines.slice(from, from + kBlock).forEach((line, i) => {
      numbers.push(from + i + 1);
      if (!words.length || !matches(line.toLowerCase(), words)) { plain += line + '\n'; return; }
      ++hits;
      parts.push(plain, el('mark', {}, line), '\n');
      plain = '';
    });
    box.append(el('div', {class: 'block', style: `contain-intrinsic-height:auto ${18 * numbers.length}px`},
      el('pre', {class: 'numbers'}, numbers.join('\n')), el('pre', {}, parts, plain)));
  }
  view.append(box);
  found.textContent = words.length ? `${hits} lines` : '';
  if (hits) box.querySelector('mark').scrollIntoView({block: 'center'});
}

// ---------------------------------------------------------------- tabs
const tabs = {overview: ['Overview', overview], graph: ['Graph', graphView], costs: ['Costs', costs], memory: ['Memory', memory], ir: ['IR', ir]};
// "#graph/input/conv2d": a tab, a phase and what to search for; the last two may be left out.
function follow() {
  const [, wanted, ...rest] = location.hash.slice(1).split('/').map(decodeURIComponent);
  if (data.phases.some(p => p.name === wanted)) {
    irPhase = wanted;
    if (phaseData(wanted).ops.length) phase = wanted;
  }
  if (rest.length) search.value = rest.join('/');
  show();
}
function show() {
  const wanted = location.hash.slice(1).split('/')[0], name = tabs[wanted] ? wanted : 'overview';
  hideTip();
  document.getElementById('tabs').replaceChildren(...Object.entries(tabs).map(([key, [label]]) => el('a', {
    href: `#${key}`, 'aria-current': key === name ? 'page' : null}, label)));
  view.replaceChildren();
  tabs[name][1]();
  root.dataset.tab = name;
}
const short = data.executable.file.split('/').pop();
document.title = `${short} \u2013 Tandem`;
document.getElementById('title').append(short, el('small', {}, `${data.executable.mode} program`));
addEventListener('hashchange', () => { scrollTo(0, 0); follow(); });
addEventListener('resize', () => { if (root.dataset.tab === 'memory') show(); });
let typing;
search.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(show, 150); });
addEventListener('keydown', e => { if (e.key === '/' && document.activeElement !== search) { e.preventDefault(); search.focus(); } });
root.dataset.phases = data.phases.length;
root.dataset.commands = data.costs.commands.length;
follow();
root.dataset.ready = '1';
