// SPDX-License-Identifier: Apache-2.0
// Where the longest reaction time and the largest data age of a cause-effect chain went: a bar of
// the terms, above a thin one of the bound's terms.

const WAY = {bar: 20, bound: 7, gap: 16, head: 18, top: 12};

function drawWays(data) {
  const shown = data.sampling
    .map((chain) => ({...chain, ways: chain.series.flatMap((series) => waysOf(data, series))}))
    .filter((chain) => chain.ways.length);
  if (!shown.length) return null;
  const bounds = shown.some((chain) => chain.ways.some((way) => way.bounds));
  return [
    html('h3', {}, 'Where the longest ones went'),
    html('p', {class: 'note'},
      'Filled: the response of a segment. Framed: a value waits for its reader.',
      bounds ? ' Thin, below it: the same terms of the bound.' : ''),
    shown.map((chain) => html('figure', {class: 'panel ways'},
      html('figcaption', {}, html('h3', {}, chain.id)),
      html('p', {class: 'note'}, waysLegend(chain)),
      responsive(html('div', {class: 'chart'}), (width) => drawChainWays(chain, width)))),
  ];
}

/** The bars of one chain under one executor. */
function waysOf(data, series) {
  const label = data.executors[series.executor].label;
  return [['reaction', series.worst_reaction], ['data age', series.worst_age]]
    .filter(([, way]) => way)
    .map(([what, way]) => ({
      ...way, what, executor: label,
      terms: way.terms.map((term) => ({...term, segment: series.segments.indexOf(term.chain)})),
      bounds: way.terms.some((term) => term.bound_ms !== undefined),
    }));
}

/** The sum of the terms of the bound; 0 if there is none. */
function boundOf(way) {
  return way.terms.reduce((sum, term) => sum + (term.bound_ms || 0), 0);
}

function isWait(term) {
  return term.kind === 'source' || term.kind === 'sampling';
}

function termClass(term) {
  return `${chainClass(term.segment)} ${isWait(term) ? 'wait' : 'work'}`;
}

/** Each term once, in the order of the segments. */
function waysLegend(chain) {
  const terms = new Map();
  for (const way of chain.ways) for (const term of way.terms) terms.set(term.text, term);
  const place = (term) => 2 * term.segment + (isWait(term) ? 0 : 1);
  return [...terms.values()].sort((a, b) => place(a) - place(b))
    .map((term) => key(`swatch way-key ${termClass(term)}`, term.text));
}

function drawChainWays(chain, width) {
  const wide = width >= 720;
  const left = wide ? 236 : 4;
  const head = wide ? 0 : WAY.head;
  const row = head + WAY.bar + (chain.ways.some((way) => way.bounds) ? WAY.bound + 2 : 0) + WAY.gap;
  const bottom = WAY.top + row * chain.ways.length;
  const total = (way) => Math.max(way.time_ms, boundOf(way));
  const scale = makeScale(0, Math.max(1e-6, ...chain.ways.map(total)) * 1.02, left, width - 10, false);
  const chart = svg('svg', {width, height: bottom + 40, role: 'img',
    'aria-label': `Terms of the longest times of chain ${chain.id} per executor`});
  chart.append(horizontalAxis(scale, bottom, WAY.top, 'time'));
  chain.ways.forEach((way, number) => {
    const y = WAY.top + number * row + head;
    const bound = way.bounds ? `, bound ${nominal(boundOf(way))}` : '';
    const text = `${way.what} ${time(way.time_ms)}${bound}`;
    if (wide) {
      chart.append(label(fit(way.executor, left - 16, 12, true), 0, y + 10, 12, {class: 'strong'}),
        label(text, 0, y + 24, 11, {class: 'muted'}));
    } else {
      const room = width - textWidth(text, 11) - 16;
      chart.append(label(fit(way.executor, room, 12, true), 0, y - 5, 12, {class: 'strong'}),
        label(text, width - 4, y - 5, 11, {class: 'muted', 'text-anchor': 'end'}));
    }
    chart.append(drawTerms(way, scale, y, WAY.bar, (term) => term.time_ms));
    if (way.bounds) {
      chart.append(drawTerms(way, scale, y + WAY.bar + 2, WAY.bound, (term) => term.bound_ms || 0));
    }
  });
  return chart;
}

/** One bar: a box for each term, with its time if there is room. */
function drawTerms(way, scale, y, height, length) {
  const group = svg('g', {class: height === WAY.bound ? 'way way-bound' : 'way'});
  let begin = 0;
  for (const term of way.terms) {
    const [x, end] = [scale(begin), scale(begin + length(term))];
    begin += length(term);
    if (end - x <= 0) continue;
    const inset = Math.min(0.5, (end - x) / 4);
    group.append(hover(
      svg('rect', {class: termClass(term), x: x + inset, y, width: end - x - 2 * inset, height}),
      () => [`${way.what}: ${term.text}`, time(term.time_ms),
        term.bound_ms === undefined ? '' : `bound ${nominal(term.bound_ms)}`,
        `instance ${term.instance} of ${term.chain}` +
          (way.round === undefined ? '' : `, round ${way.round}`)].filter((line) => line)));
    const text = time(term.time_ms);
    if (height === WAY.bar && textWidth(text, 11) + 8 <= end - x) {
      group.append(label(text, (x + end) / 2, y + 14, 11, {
        class: `${chainClass(term.segment)} ${isWait(term) ? 'on-wait' : 'on-work'}`,
        'text-anchor': 'middle'}));
    }
  }
  return group;
}
