// SPDX-License-Identifier: Apache-2.0
// All figures, per chain and executor, exact to the microsecond; and the tables of plain facts.

const COLUMNS = [
  ['Released', '', (series) => series.released],
  ['Completed', '', (series) => series.completed],
  ['Unmatched', '', (series) => series.unmatched],
  ['Missed', '', (series) => series.missed],
  ['by host', '', (series) => series.missed_host],
  ['Unknown', '', (series) => series.unknown ?? '–'],
  ['Error', '± ms', (series) => exact(series.error_ms)],
  ['Best', 'ms', (series) => exact(series.response_ms && series.response_ms.best)],
  ['Mean', 'ms', (series) => exact(series.response_ms && series.response_ms.mean)],
  ['Median', 'ms', (series) => exact(series.response_ms && series.response_ms.p50)],
  ['p99', 'ms', (series) => exact(series.response_ms && series.response_ms.p99)],
  ['Worst', 'ms', (series) => exact(series.response_ms && series.response_ms.worst)],
  ['Worst', '÷ deadline', (series) => exact(series.normalised_worst)],
  ['Jitter', 'ms', (series) => exact(series.jitter_ms)],
];
const RATIOS = [
  ['p99', '× baseline', (series) => factor(series.ratios.p99)],
  ['Jitter', '× baseline', (series) => factor(series.ratios.jitter)],
];

const BOUNDS = [
  ['Bound', 'ms', (series) => exact(series.bound_ms)],
  ['Verdict', '', (series) => series.verdict || '–'],
  ['Above', 'the bound', (series) => (series.verdict ? series.exceeded : '–')],
  ['by host', '', (series) => (series.verdict ? series.exceeded_host : '–')],
];

function exact(value) {
  return value === null || value === undefined ? '–' : value.toFixed(3);
}

function factor(value) {
  return value === null ? '–' : value.toFixed(2);
}

function drawTable(data) {
  const ratios = data.chains.some((chain) => chain.series.some((series) => series.ratios));
  const bounds = data.chains.some((chain) => chain.series.some((series) => series.verdict));
  const unmatched = data.chains.some((chain) => chain.series.some((series) => series.unmatched));
  const hosts = data.chains.some((chain) => chain.series.some((series) => series.error_ms >= 0));
  const columns = [...COLUMNS.filter(([name]) => (unmatched || name !== 'Unmatched') &&
      (hosts || (name !== 'Unknown' && name !== 'Error'))),
    ...(bounds ? BOUNDS : []), ...(ratios ? RATIOS : [])];
  const head = html('thead', {}, html('tr', {},
    html('th', {scope: 'col', class: 'name'}, 'Executor'),
    columns.map(([name, unit]) => html('th', {scope: 'col'}, name,
      unit ? html('span', {class: 'unit'}, unit) : null))));
  const bodies = data.chains.map((chain, index) => html('tbody', {},
    html('tr', {class: 'group'}, html('th', {scope: 'rowgroup', colspan: columns.length + 1},
      html('span', {class: 'group-name'}, swatch(index), chain.id,
        html('span', {class: 'note'}, `priority ${chain.priority} · ` +
          `${chain.releases} · ${deadlineText(chain.deadline_ms)}`)))),
    chain.series.map((series) => html('tr',
      {class: series.executor === data.focus ? 'focus' : null},
      html('th', {scope: 'row', class: 'name'}, data.executors[series.executor].label),
      columns.map(([name, unit, value]) => html('td',
        {class: (name === 'Missed' && series.missed > series.missed_host) ||
          (name === 'Above' && series.exceeded > series.exceeded_host) ? 'late-text' : null},
        value(series)))))));
  return html('section', {id: 'figures'},
    html('h2', {}, 'All figures'),
    html('div', {class: 'panel scroller'}, html('table', {class: 'figures'}, head, bodies)));
}

/** Rows of [what, text]. */
function drawFacts(id, title, rows) {
  return html('section', {id}, html('h2', {}, title),
    html('dl', {class: 'panel facts'},
      rows.map(([what, text]) => [html('dt', {}, what), html('dd', {}, text)])));
}

function drawTrace(data) {
  if (!data.trace) return null;
  return html('section', {id: 'trace'}, html('h2', {}, 'Trace'),
    html('p', {class: 'panel'},
      data.streamed ? 'The kept instances on their threads' : 'Every instance on its thread',
      ', with arrows along the chains: ',
      html('a', {href: data.trace, download: true}, 'trace.pftrace'),
      '. Open ',
      html('a', {href: 'https://ui.perfetto.dev', rel: 'noreferrer'}, 'ui.perfetto.dev'),
      ' in a browser, choose “Open trace file” and pick it; the trace stays on your machine.'));
}
