// SPDX-License-Identifier: Apache-2.0
// The rows of CPUs in the timeline: what ran on each, and where an instance continued.

/** Whether any window has a slice with a known CPU. */
function hasCpus(data) {
  return data.gantt.choices.some((choice) => choice.panels.some((panel) => panel.cpus.length > 0));
}

/** Whether any window has slices on several CPUs. */
function hasSeveralCpus(data) {
  return data.gantt.choices.some((choice) => choice.panels.some((panel) => panel.cpus.length > 1));
}

/** Where a slice ran, as far as it is known: [{cpu, from, to, before, unsure}]. `before` is the CPU
 * from which it moved here; `unsure`: it moved between these times, and when is not known. */
function partsOf(slice) {
  if (slice.parts) {
    return slice.parts.map(([cpu, from, to, before]) => ({cpu, from, to, before}));
  }
  const [first, last] = slice.cpus || [];
  if (first === undefined) return [];
  if (last !== undefined) {
    const {start: from, end: to} = slice;
    return [{cpu: first, from, to, unsure: true}, {cpu: last, from, to, unsure: true}];
  }
  return runsOf(slice, slice.paused).map(([from, to]) => ({cpu: first, from, to}));
}

/** A slice without its pauses. */
function runsOf(slice, paused) {
  const edges = [slice.start, ...paused.flat(), slice.end];
  const runs = [];
  for (let index = 0; index < edges.length; index += 2) {
    if (edges[index + 1] > edges[index] || !paused.length) {
      runs.push([edges[index], edges[index + 1]]);
    }
  }
  return runs;
}

/** The parts of a slice in the rows of CPUs, with a mark where it continues on another CPU. */
function drawOnCpus(data, slice, rows, x, length) {
  const group = svg('g', {
    class: `slice on-cpu ${chainClass(slice.chain)}${heldUp(slice) ? ' held-up' : ''}`,
  });
  const name = data.gantt.callbacks[slice.callback];
  const middle = (cpu) => rows.get(cpu).top + rows.get(cpu).height / 2;
  for (const {cpu, from, to, before, unsure} of partsOf(slice)) {
    if (to < 0 || from > length) continue;
    const width = Math.max(1, x(to) - x(from) - 0.8);
    group.append(svg('rect', {class: unsure ? 'unsure' : 'run', x: x(from), width,
      y: middle(cpu) - 11, height: 22}));
    if (width > 16 && width >= textWidth(name, 11) + 8) {
      group.append(label(name, x(from) + width / 2, middle(cpu) + 4, 11,
        {class: unsure ? '' : 'on', 'text-anchor': 'middle'}));
    }
    if (before !== undefined && from >= 0) {
      group.append(drawMigration(x(from), middle(before), middle(cpu)));
    }
  }
  return hover(group, () => sliceLines(data, slice));
}

/** A line from the row of the CPU that the instance left to a dot in the row where it continues. */
function drawMigration(x, from, to) {
  const edge = from + 11 * Math.sign(to - from);
  return svg('g', {class: 'migration'},
    svg('line', {x1: x, x2: x, y1: edge, y2: to}),
    svg('circle', {cx: x, cy: to, r: 3.5}));
}

/** The line of a slice's tooltip about its CPUs. */
function cpuLine(slice) {
  const moved = slice.migrations ? `, moved ${slice.migrations} ×` : '';
  if (slice.parts) {
    const cpus = [...new Set(slice.parts.map(([cpu]) => cpu))].sort((a, b) => a - b);
    return cpus.length ? `CPU ${cpus.join(', ')}${moved}` : '';
  }
  const [first, last] = slice.cpus || [];
  if (first === undefined) return '';
  return last === undefined ? `CPU ${first}` : `began on CPU ${first}, ended on CPU ${last}`;
}

/** Per callback and executor: how often instances were preempted and moved. */
function drawSwitches(data) {
  const {callbacks, executors} = data.switches;
  if (!executors.length) return null;
  const head = html('thead', {}, html('tr', {},
    html('th', {scope: 'col', class: 'name'}, 'Callback'),
    executors.map((executor) => html('th', {scope: 'col'}, data.executors[executor].label,
      html('span', {class: 'unit'}, 'preempted · moved')))));
  const cell = ([preemptions, migrations]) =>
    html('td', {}, `${preemptions} · ${migrations === null ? '–' : migrations}`);
  const rows = callbacks.map(({id, counts}) => html('tr', {},
    html('th', {scope: 'row', class: 'name'}, id), counts.map(cell)));
  return html('section', {id: 'switches'},
    html('h2', {}, 'Preemptions and migrations'),
    html('p', {class: 'note'}, 'How often instances were preempted, and how often they continued ' +
      'on another CPU. ' + data.switches.note),
    rows.length
      ? html('div', {class: 'panel scroller', tabindex: 0, role: 'group',
        'aria-label': 'Preemptions and migrations, scrolls sideways'},
      html('table', {class: 'switches'}, head, html('tbody', {}, rows)))
      : html('p', {class: 'note'}, 'No instance was preempted, and none moved.'));
}
