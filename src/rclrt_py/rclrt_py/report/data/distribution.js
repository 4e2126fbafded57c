// SPDX-License-Identifier: Apache-2.0
// Response times of one chain: a histogram per executor over one axis, with the deadline.

const ROW = {bars: 40, range: 14, gap: 12};
const LOG_FROM = 20;  // the axis is logarithmic if the worst is this many times the best

function drawDistributions(data) {
  const section = html('section', {id: 'responses'},
    html('h2', {}, 'Response times'),
    html('p', {class: 'note'},
      'From the nominal release of a chain’s timer, or the release of its event, to the end of its last callback. ',
      key('dot', 'median'), key('bar99', 'p99'), key('line', 'best to worst'),
      key('swatch late-fill', 'after the deadline', data.chains.some((chain) =>
        chain.series.some((series) => series.samples.some((sample) => isLate(sample, chain))))),
      key('bound-key', 'bound of the analysis',
        data.chains.some((chain) => chain.series.some(hasBound)))));
  data.chains.forEach((chain, index) => {
    section.append(html('figure', {class: 'panel distribution'},
      html('figcaption', {},
        html('h3', {}, swatch(index), chain.id),
        html('p', {class: 'note'},
          `priority ${chain.priority} · ${chain.releases} · ` +
          `${deadlineText(chain.deadline_ms)} · ${chain.callbacks.join(' → ')}`)),
      responsive(html('div', {class: 'chart'}), (width) =>
        drawDistribution(data, chain, index, width))));
  });
  return section;
}

function isLate(nanoseconds, chain) {
  return chain.deadline_ms !== null && nanoseconds / 1e6 > chain.deadline_ms;
}

function hasBound(series) {
  return series.bound_ms !== null && series.bound_ms !== undefined;
}

function drawDistribution(data, chain, index, width) {
  const wide = width >= 720;
  const left = wide ? 236 : 44;
  const right = width - (wide ? 176 : 10);
  const top = 42;
  const head = wide ? 0 : 22;
  const height = head + ROW.bars + ROW.range + ROW.gap;
  const bottom = top + height * chain.series.length;
  const scale = distributionScale(chain, left, right);
  const bins = chain.series.map((series) => histogram(series, chain, scale));
  const peak = Math.max(0.01, ...bins.flat().map((bin) => (bin.early + bin.late) / bin.total));
  const chart = svg('svg', {
    width, height: bottom + 40, role: 'img', class: chainClass(index),
    'aria-label': `Response times of chain ${chain.id} per executor`,
  });
  const deadline = chain.deadline_ms === null ? null : scale(chain.deadline_ms);
  chart.append(
    horizontalAxis(scale, bottom, top, 'response time'),
    label(wide ? 'share of instances per bin (√ scale)' : 'share per bin (√ scale)',
      left - (wide ? 6 : 36), 14, 11, {class: 'axis-title'}));
  chain.series.forEach((series, row) => {
    const base = top + row * height + head + ROW.bars + 4;
    // Figures above the bars must not be crossed by the tint or by a line.
    const [from, to] = [wide ? top + row * height : base - ROW.bars, base + ROW.range];
    if (deadline !== null) {
      chart.append(
        svg('rect', {class: 'late-zone', x: deadline, y: from, width: Math.max(0, right - deadline),
          height: to - from + (wide ? ROW.gap - 4 : 0)}),
        svg('line', {class: 'deadline', x1: deadline, x2: deadline, y1: from,
          y2: to + (wide ? ROW.gap - 4 : 0)}));
    }
    chart.append(
      drawRow(series, bins[row], scale, base, peak, data.executors[series.executor].simulated));
    if (hasBound(series)) {
      const bound = scale(series.bound_ms);
      chart.append(hover(
        svg('line', {class: 'bound', x1: bound, x2: bound, y1: from, y2: to}),
        () => [`bound ${time(series.bound_ms)}`, series.verdict,
          `${series.exceeded} of ${series.released} above, ${series.exceeded_host} by host`]));
    }
    chart.append(drawRowText(data, series, base, width, left, wide));
  });
  if (deadline === null) return chart;
  const text = deadlineText(chain.deadline_ms);
  const half = textWidth(text, 11, true) / 2;
  chart.append(
    svg('line', {class: 'deadline', x1: deadline, x2: deadline, y1: top - 8, y2: top}),
    label(text, Math.max(left + half, Math.min(deadline, right - half)), top - 12, 11,
      {class: 'deadline-label', 'text-anchor': 'middle'}));
  return chart;
}

/** One axis for all executors: from zero, or logarithmic when the values differ by much. */
function distributionScale(chain, left, right) {
  const values = chain.series.filter((series) => series.response_ms)
    .flatMap((series) => [series.response_ms.best, series.response_ms.worst]);
  values.push(...chain.series.filter(hasBound).map((series) => series.bound_ms));
  if (chain.deadline_ms !== null) values.push(chain.deadline_ms);
  if (!values.length) values.push(1);
  const best = Math.max(1e-4, Math.min(...values));
  const worst = Math.max(...values);
  return worst / best >= LOG_FROM
    ? makeScale(best * 0.85, worst * 1.2, left, right, true)
    : makeScale(0, worst * 1.06, left, right, false);
}

/** Counts per bin of about four pixels, separately for instances on time and late ones. */
function histogram(series, chain, scale) {
  const count = Math.max(10, Math.round((scale.right - scale.left) / 4));
  const step = (scale.right - scale.left) / count;
  const bins = Array.from({length: count}, (unused, number) =>
    ({x: scale.left + number * step, width: step, early: 0, late: 0, total: 1}));
  for (const nanoseconds of series.samples) {
    const ms = nanoseconds / 1e6;
    const number = Math.floor((scale(Math.max(ms, 1e-6)) - scale.left) / step);
    const bin = bins[Math.max(0, Math.min(count - 1, number))];
    if (isLate(nanoseconds, chain)) ++bin.late; else ++bin.early;
  }
  for (const bin of bins) bin.total = Math.max(1, series.samples.length);
  return bins;
}

function drawRow(series, bins, scale, base, peak, simulated) {
  const group = svg('g', {class: simulated ? 'simulated' : null});
  const heightOf = (share) => share ? Math.max(2, ROW.bars * Math.sqrt(share / peak)) : 0;
  group.append(svg('line', {class: 'base', x1: scale.left, x2: scale.right, y1: base, y2: base}));
  const marks = [0.01, 0.1, 0.25, 0.5, 1].filter((share) => share <= peak);
  let lowest = base - 4;
  for (const share of marks) {
    const y = base - heightOf(share);
    if (lowest - y < 12) continue;
    lowest = y;
    group.append(
      svg('line', {class: 'grid', x1: scale.left, x2: scale.right, y1: y, y2: y}),
      label(percent(share), scale.left - 6, y + 3.5, 10, {class: 'tick', 'text-anchor': 'end'}));
  }
  for (const bin of bins) {
    const count = bin.early + bin.late;
    if (!count) continue;
    const full = heightOf(count / bin.total);
    const late = full * bin.late / count;
    const box = {x: bin.x + 0.5, width: Math.max(1, bin.width - 1)};
    if (bin.early) {
      group.append(svg('rect', {class: 'on-time', ...box, y: base - full, height: full - late}));
    }
    if (bin.late) group.append(svg('rect', {class: 'late-fill', ...box, y: base - late, height: late}));
    const [from, to] = [scale.invert(bin.x), scale.invert(bin.x + bin.width)];
    group.append(hover(
      svg('rect', {class: 'touch', x: bin.x, width: bin.width, y: base - ROW.bars, height: ROW.bars}),
      () => [`${time(from)} to ${time(to)}`, `${percent(count / bin.total)}, ${count} of ${bin.total}`,
        bin.late ? `${bin.late} after the deadline` : 'on time']));
  }
  const response = series.response_ms;
  if (response) {
    const y = base + 8;
    group.append(
      svg('line', {class: 'range', x1: scale(response.best), x2: scale(response.worst), y1: y, y2: y}),
      svg('line', {class: 'range', x1: scale(response.worst), x2: scale(response.worst),
        y1: y - 3, y2: y + 3}),
      svg('rect', {class: 'mark', x: scale(response.p99) - 1.5, y: y - 5, width: 3, height: 10}),
      svg('circle', {class: 'mark', cx: scale(response.p50), cy: y, r: 3.5}));
  }
  return group;
}

/** The executor on the left and the figures on the right, or above the bars if there is no room. */
function drawRowText(data, series, base, width, left, wide) {
  const executor = data.executors[series.executor];
  const response = series.response_ms;
  const host = series.missed_host ? ` (${series.missed_host} by host)` : '';
  const missed = `missed ${series.missed} of ${series.released - series.unmatched}${host}`;
  const late = series.missed > series.missed_host ? 'late-text' : 'muted';
  const p99 = response ? `p99 ${time(response.p99)}` : 'never completed';
  const group = svg('g');
  if (wide) {
    group.append(
      label(fit(executor.label, left - 46, 13, true), 0, base - 16, 13, {class: 'strong'}),
      label(`${series.completed} completed`, 0, base, 11, {class: 'muted'}),
      hasBound(series)
        ? label(`bound ${time(series.bound_ms)}, ${series.verdict}`, 0, base + 15, 11,
          {class: 'muted'})
        : svg('g'),
      label(p99, width, base - 16, 13, {class: 'strong', 'text-anchor': 'end'}),
      label(missed, width, base, 11, {class: late, 'text-anchor': 'end'}));
  } else {
    const y = base - ROW.bars - 9;
    const end = `${p99}, ${missed}`;
    group.append(
      label(fit(executor.label, width - textWidth(end, 11, true) - 16, 12, true), 0, y, 12,
        {class: 'strong'}),
      label(end, width, y, 11, {class: late, 'text-anchor': 'end'}));
  }
  return group;
}
