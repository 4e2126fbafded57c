// SPDX-License-Identifier: Apache-2.0
// The worst misses of each chain: where the time went, and which instances were in the way.

const MISS_TIMES = [
  ['Response', (miss) => (miss.response_ms === null ? miss.status : exact(miss.response_ms))],
  ['Own', (miss) => exact(miss.execution_ms)],
  ['Delayed', (miss) => exact(miss.delayed_ms)],
  ['Transit', (miss) => exact(miss.transit_ms)],
  ['Unexplained', (miss) => exact(miss.unexplained_ms)],
  ['Host stalled', (miss) => exact(miss.host_stall_ms)],
];

function drawMisses(data) {
  const {misses} = data;
  if (!misses.explained) return null;
  const shown = misses.chains.map((chain, index) => ({...chain, index}))
    .filter((chain) => chain.rows.length);
  const section = html('section', {id: 'misses'}, html('h2', {}, 'Missed deadlines'));
  if (!shown.length) {
    section.append(html('p', {class: 'note'}, 'No deadline was missed.'));
    return section;
  }
  const head = html('thead', {}, html('tr', {},
    html('th', {scope: 'col', class: 'name'}, 'Executor'),
    html('th', {scope: 'col'}, 'Release', html('span', {class: 'unit'}, 's')),
    MISS_TIMES.map(([name]) => html('th', {scope: 'col'}, name, html('span', {class: 'unit'}, 'ms'))),
    html('th', {scope: 'col', class: 'culprits'}, 'In the way')));
  const bodies = shown.map((chain) => html('tbody', {},
    html('tr', {class: 'group'},
      html('th', {scope: 'rowgroup', colspan: MISS_TIMES.length + 3},
        html('span', {class: 'group-name'}, swatch(chain.index), chain.id,
          html('span', {class: 'note'},
            `deadline ${nominal(data.chains[chain.index].deadline_ms)}`)))),
    chain.rows.map((miss) => drawMiss(data, miss))));
  section.append(
    html('p', {class: 'note'},
      'The worst of each chain and executor. A miss with the time of the stall of the host in it ' +
      'may be the host’s.'),
    html('div', {class: 'panel scroller'}, html('table', {class: 'misses'}, head, bodies)));
  return section;
}

function drawMiss(data, miss) {
  const {label: name} = data.executors[miss.executor];
  const place = `${data.misses.rounds ? `round ${miss.round} ` : ''}#${miss.instance}`;
  return html('tr', {},
    html('th', {scope: 'row', class: 'name'}, name, ' ', html('span', {class: 'note'}, place)),
    html('td', {}, (miss.release_ms / 1000).toFixed(3)),
    MISS_TIMES.map(([, value], column) =>
      html('td', {class: column === 0 ? 'late-text' : null}, value(miss))),
    html('td', {class: 'culprits'},
      miss.culprits.map((culprit) => html('div', {},
        `${culprit.callback} ${time(culprit.time_ms)} `,
        html('span', {class: 'note'}, culprit.reason))),
      miss.more_culprits
        ? html('div', {class: 'note'},
          `and ${miss.more_culprits} more, ${time(miss.more_culprits_ms)} in all`)
        : null));
}
