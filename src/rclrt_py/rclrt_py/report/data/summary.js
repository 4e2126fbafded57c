// SPDX-License-Identifier: Apache-2.0
// The top of the page: what was measured, the result in one sentence, and a card per executor.

function drawHeader(data) {
  const application = data.application;
  const runs = data.executors.map((executor) => executor.rounds);
  return html('header', {},
    html('p', {class: 'eyebrow'}, 'rclrt report'),
    html('h1', {}, application.name),
    application.description ? html('p', {class: 'lead'}, application.description) : null,
    html('p', {class: 'headline', id: 'headline'}, data.headline),
    data.missing.length
      ? html('p', {class: 'warning'},
          `Incomplete: it was stopped before these rounds: ${data.missing.join('; ')}. ` +
          'Executors with fewer rounds have fewer chances of a bad worst case.')
      : null,
    drawCards(data, data.chains[0]),
    html('p', {class: 'note'},
      `Chain ${data.chains[0].id}, ` +
      `${data.replayed ? 'of the counter-example' : 'the most urgent one'}; ` +
      `${new Set(runs).size === 1 ? runs[0] : `${Math.min(...runs)} or more`} ` +
      `${runs.every((rounds) => rounds === 1) ? 'round' : 'rounds'} each.` +
      (data.chains[0].series.some((series) => series.ratios)
        ? ` Ratios are to the ${data.executors[data.baseline].label} in the same comparison: ` +
          'below 1 × is better.'
        : '')));
}

/** One card per executor with the most urgent chain's figures. */
function drawCards(data, chain) {
  return html('div', {class: 'cards'}, chain.series.map((series) => {
    const executor = data.executors[series.executor];
    const own = series.missed - series.missed_host;
    const response = series.response_ms;
    const ratios = series.ratios;
    const figure = (name, value, factor) => html('div', {class: 'figure'},
      html('span', {class: 'name'}, name),
      html('span', {class: 'value'}, value),
      factor ? html('span', {class: 'factor'}, ratio(factor)) : null);
    return html('div', {class: `card${series.executor === data.focus ? ' focus' : ''}`},
      html('h3', {}, executor.label),
      html('p', {class: `big${own ? ' late' : ''}`},
        String(series.missed),
        html('span', {class: 'of'}, ` of ${series.released - series.unmatched} deadlines missed`)),
      figure('p99 response', time(response && response.p99), ratios && ratios.p99),
      figure('jitter', time(series.jitter_ms), ratios && ratios.jitter),
      hasBound(series) ? figure('bound', time(series.bound_ms)) : null,
      series.missed_host
        ? html('p', {class: 'note'}, `${series.missed_host} explained by a stall of the machine`)
        : null);
  }));
}
