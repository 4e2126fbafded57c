// SPDX-License-Identifier: Apache-2.0
// Reaction times and data ages of cause-effect chains, with their limits and bounds.

const TIMES = [
  ['Best', (times) => times && times.best],
  ['Median', (times) => times && times.p50],
  ['p99', (times) => times && times.p99],
  ['Worst', (times) => times && times.worst],
];

function drawSampling(data) {
  if (!data.sampling.length) return null;
  const bounds = data.sampling.some((chain) => chain.series.some((series) => series.verdict));
  const heads = [['Time', ''], ['Values used', 'of stored'], ['Outputs', ''],
    ...TIMES.map(([name]) => [name, 'ms']), ['At most', 'ms'], ['Above', 'the limit'],
    ...(bounds ? [['Bound', 'ms'], ['Worst', '÷ bound'], ['Verdict', ''], ['Above', 'the bound'],
      ['by host', '']] : [])];
  const head = html('thead', {}, html('tr', {},
    html('th', {scope: 'col', class: 'name'}, 'Executor'),
    heads.map(([name, unit]) => html('th', {scope: 'col'}, name,
      unit ? html('span', {class: 'unit'}, unit) : null))));
  const bodies = data.sampling.map((chain) => html('tbody', {},
    html('tr', {class: 'group'}, html('th', {scope: 'rowgroup', colspan: heads.length + 1},
      html('span', {class: 'group-name'}, chain.id,
        html('span', {class: 'note'}, chain.segments.join(' → '))))),
    chain.series.map((series) => [
      drawSampled(data, series, bounds, {
        name: 'reaction', times: series.reaction_ms, limit: series.max_reaction_ms,
        missed: series.missed_reaction, bound: series.reaction_bound_ms,
        above: series.above_reaction_bound, byHost: series.reaction_by_host,
      }),
      drawSampled(data, series, bounds, {
        name: 'data age', times: series.age_ms, limit: series.max_age_ms,
        missed: series.missed_age, bound: series.age_bound_ms,
        above: series.above_age_bound, byHost: series.age_by_host,
      }),
    ])));
  return html('section', {id: 'sampling'},
    html('h2', {}, 'Reaction time and age of data'),
    html('p', {class: 'note'}, 'Chains that lead through variables. Reaction: from what happens ' +
      'to the first output that shows it. Age: from the release of the data to an output that ' +
      'uses them.'),
    html('div', {class: 'panel scroller'}, html('table', {class: 'figures'}, head, bodies)),
    drawWays(data));
}

/** The row of the reaction times or of the ages of one chain under one executor. */
function drawSampled(data, series, bounds, kind) {
  const worst = kind.times ? kind.times.worst : null;
  const known = kind.bound !== null && kind.bound !== undefined;
  const cells = [
    [kind.name], [`${series.distinct} of ${series.inputs}`], [series.outputs],
    ...TIMES.map(([, value]) => [exact(value(kind.times))]),
    [exact(kind.limit)], [kind.missed, kind.missed > 0],
  ];
  if (bounds) {
    cells.push([exact(kind.bound)],
      [known && worst !== null ? (worst / kind.bound).toFixed(2) : '–'], [series.verdict || '–'],
      [series.verdict ? kind.above : '–', kind.above > kind.byHost],
      [series.verdict ? kind.byHost : '–']);
  }
  return html('tr', {class: series.executor === data.focus ? 'focus' : null},
    html('th', {scope: 'row', class: 'name'}, data.executors[series.executor].label),
    cells.map(([value, late]) => html('td', {class: late ? 'late-text' : null}, value)));
}
