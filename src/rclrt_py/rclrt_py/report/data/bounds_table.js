// SPDX-License-Identifier: Apache-2.0
// The bound and the observation for each callback on a chain's path.

function drawBounds(data) {
  const shown = data.chains.map((chain, index) => ({
    ...chain, index, series: chain.series.filter((series) => series.steps && series.steps.length),
  })).filter((chain) => chain.series.length);
  if (!shown.length) return null;
  const head = html('thead', {}, html('tr', {},
    html('th', {scope: 'col', class: 'name'}, 'Until the end of'),
    html('th', {scope: 'col'}, 'Executor'),
    ['Bound', 'Observed'].map((name) =>
      html('th', {scope: 'col'}, name, html('span', {class: 'unit'}, 'ms'))),
    html('th', {scope: 'col'}, 'Observed', html('span', {class: 'unit'}, '÷ bound'))));
  const bodies = shown.map((chain) => html('tbody', {},
    html('tr', {class: 'group'}, html('th', {scope: 'rowgroup', colspan: 5},
      html('span', {class: 'group-name'}, swatch(chain.index), chain.id))),
    chain.series.map((series) => series.steps.map((step) => drawStep(data, series, step)))));
  return html('section', {id: 'bounds'},
    html('h2', {}, 'Observed against bound'),
    html('p', {class: 'note'}, 'From the nominal release of the chain’s timer, or the release of its event; the worst of the run.'),
    html('div', {class: 'panel scroller'}, html('table', {class: 'bounds'}, head, bodies)),
    drawReasons(data.bound_reasons));
}

/** Why deadlines are not proved: rows of [reason, chains and executors]. */
function drawReasons(reasons) {
  if (!reasons.length) return null;
  return [
    html('h3', {}, 'Why deadlines are not proved'),
    html('dl', {class: 'panel facts', id: 'bound-reasons'},
      reasons.map(([reason, where]) => [html('dt', {}, where), html('dd', {}, reason)])),
  ];
}

function drawStep(data, series, step) {
  const both = step.bound_ms !== null && step.worst_ms !== null;
  const above = both && step.worst_ms > step.bound_ms;
  return html('tr', {},
    html('th', {scope: 'row', class: 'name'}, step.callback),
    html('td', {}, data.executors[series.executor].label),
    html('td', {}, exact(step.bound_ms)),
    html('td', {class: above ? 'late-text' : null}, exact(step.worst_ms)),
    html('td', {}, both ? (step.worst_ms / step.bound_ms).toFixed(2) : '–'));
}
