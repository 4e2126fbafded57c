// SPDX-License-Identifier: Apache-2.0
// One executor's part of the timeline: a lane per chain (release to completion), then a lane per
// CPU, and one per thread or callback (its slices). Times in the data are nanoseconds since the start
// of the window.

const LANE = {chain: 20, work: 28, gap: 8, axis: 22};

/** The lanes of a panel: [{name, kind, index, top, height}], and the height of all. */
function panelLanes(data, panel, {mode, cpus}) {
  const lanes = [];
  let y = 4;
  const add = (name, kind, index, height) => {
    lanes.push({name, kind, index, top: y, height});
    y += height;
  };
  data.chains.forEach((chain, index) => add(chain.id, 'chain', index, LANE.chain));
  y += LANE.gap;
  if (cpus === 'shown' && panel.cpus.length) {
    panel.cpus.forEach((cpu) => add(`CPU ${cpu}`, 'cpu', cpu, LANE.work));
    y += LANE.gap;
  }
  if (mode === 'threads') {
    panel.tracks.forEach((track, index) => add(track, 'work', index, LANE.work));
  } else {
    const used = new Set(panel.slices.map((slice) => slice.callback));
    data.gantt.callbacks.forEach((callback, index) => {
      if (used.has(index)) add(callback, 'work', index, LANE.work);
    });
  }
  return {lanes, height: y + 4};
}

/** The names of the lanes, in a drawing of their own that stays while the other one scrolls. */
function drawLaneNames(data, layout, width) {
  const names = svg('svg', {width, height: layout.height + LANE.axis});
  for (const lane of layout.lanes) {
    const middle = lane.top + lane.height / 2;
    const chain = lane.kind === 'chain';
    if (chain) {
      names.append(svg('rect', {class: `on-time ${chainClass(lane.index)}`, x: 0, y: middle - 5,
        width: 10, height: 10, rx: 2}));
    }
    const indent = chain ? 16 : 0;
    names.append(label(fit(lane.name, width - indent - 8, 12), indent, middle + 4, 12,
      {class: chain ? 'strong' : ''}));
  }
  return names;
}

function drawPanel(data, panel, layout, scale, length, mode) {
  const width = scale.right + 14;
  const bottom = layout.height;
  const drawing = svg('svg', {width, height: bottom + LANE.axis, role: 'img',
    'aria-label': `Timeline of ${data.executors[panel.executor].label}`});
  drawing.append(horizontalAxis(scale, bottom, 0, ''));
  const x = (nanoseconds) => scale(Math.max(0, Math.min(length, nanoseconds)) / 1e6);
  for (const lane of layout.lanes) {
    drawing.append(svg('line', {class: 'lane', x1: scale.left, x2: scale.right,
      y1: lane.top + lane.height, y2: lane.top + lane.height}));
  }
  const crowded = crowdedChains(panel, length);
  for (const response of panel.responses) {
    const lane = layout.lanes.find((one) => one.kind === 'chain' && one.index === response[0]);
    drawing.append(drawResponse(data, panel, response, lane, x, length, crowded));
  }
  const rows = new Map(layout.lanes.filter((one) => one.kind === 'cpu')
    .map((one) => [one.index, one]));
  if (rows.size) {
    for (const slice of panel.slices) drawing.append(drawOnCpus(data, slice, rows, x, length));
    // Above the slices of other callbacks.
    drawing.append(...drawing.querySelectorAll('.migration'));
  }
  for (const slice of panel.slices) {
    const index = mode === 'threads' ? slice.track : slice.callback;
    const lane = layout.lanes.find((one) => one.kind === 'work' && one.index === index);
    drawing.append(drawSlice(data, slice, lane, x, length));
  }
  return drawing;
}

/** The chains with an instance that was released before the previous one had completed. */
function crowdedChains(panel, length) {
  const ends = new Map();
  const crowded = new Set();
  for (const [chain, , release, completion] of panel.responses) {
    if (release < (ends.has(chain) ? ends.get(chain) : -Infinity)) crowded.add(chain);
    ends.set(chain, completion === null ? length : completion);
  }
  return crowded;
}

/** The end of a response as it is drawn. */
function responseEnd([, , , completion, deadline, status], length) {
  // A dropped or left-over instance has no completion; a pending one may still complete.
  const open = status === 'dropped' || status === 'unmatched' ? deadline : length;
  return completion === null ? open : completion;
}

/** A chain's instance: release (bar upright), response, and deadline (triangle). */
function drawResponse(data, panel, response, lane, x, length, crowded) {
  const [chain, instance, release, completion, deadline, status, stall] = response;
  const middle = lane.top + lane.height / 2;
  const end = responseEnd(response, length);
  const chosen = panel.chain === chain && panel.instance === instance;
  const group = svg('g', {class: `response ${chainClass(chain)}${chosen ? ' chosen' : ''}`});
  // Instances that overlap take turns in the upper and the lower half of the lane.
  const half = crowded.has(chain);
  const [top, height] = half ? [middle - (instance % 2 ? 0 : 7), 7] : [middle - 5, 10];
  const bar = (from, to, kind) => group.append(svg('rect', {class: kind, x: x(from),
    width: Math.max(1, x(to) - x(from)), y: top, height}));
  if (end > 0 && release < length) {
    bar(release, Math.max(release, Math.min(end, deadline)), completion === null ? 'open' : 'soft');
    if (end > deadline) bar(Math.max(deadline, release), end, 'late-fill');
    if (chosen) bar(release, end, 'outline');
  }
  if (release >= 0 && release < length) {
    group.append(svg('line', {class: 'release', x1: x(release) + 1, x2: x(release) + 1,
      y1: middle - 8, y2: middle + 8}));
  }
  if (deadline >= 0 && deadline <= length) {
    const at = x(deadline);
    group.append(svg('path', {class: 'due',
      d: `M${at - 4.5},${middle - 8}h9l-4.5,7zM${at - 0.6},${middle - 3}h1.2v11h-1.2z`}));
  }
  const ms = data.chains[chain].deadline_ms;
  return hover(group, () => [
    `${data.chains[chain].id} #${instance}: ${status}`,
    completion === null ? 'not completed' : `response ${time((completion - release) / 1e6)}`,
    `released at ${time(release / 1e6)}, ${deadlineText(ms)}${ms === null ? '' : ' later'}`,
    stall ? `the machine stood still for ${time(stall / 1e6)} of it` : 'no stall of the machine',
  ]);
}

/** Whether it had the CPU for much less time than it lasted, and no recorded slice explains it. */
function heldUp(slice) {
  if (slice.parts) return false;  // all its pauses are known
  const paused = slice.paused.reduce((sum, [from, to]) => sum + to - from, 0);
  const lasted = slice.end - slice.start - paused;
  return lasted - slice.cpu > Math.max(500000, 0.1 * lasted);
}

/** A callback's instance: solid while it ran, thin while a more urgent one ran instead. */
function drawSlice(data, slice, lane, x, length) {
  const middle = lane.top + lane.height / 2;
  const name = data.gantt.callbacks[slice.callback];
  const group = svg('g', {
    class: `slice ${chainClass(slice.chain)}${heldUp(slice) ? ' held-up' : ''}`,
  });
  const paused = slice.paused.filter(([from, to]) => to > 0 && from < length);
  if (paused.length) {
    group.append(svg('rect', {class: 'paused', x: x(slice.start), y: middle - 2, height: 4,
      width: Math.max(1, x(slice.end) - x(slice.start))}));
  }
  let labelled = false;
  for (const [from, to] of runsOf(slice, paused)) {
    const width = x(to) - x(from);
    if (width > 0.2 || !paused.length) {
      // Drawn a little narrower, so that slices without a pause between them stay apart.
      group.append(svg('rect', {class: 'run', x: x(from), width: Math.max(1, width - 0.8),
        y: middle - 11, height: 22}));
    }
    if (!labelled && width >= textWidth(name, 11) + 8) {
      labelled = true;
      group.append(label(name, x(from) + width / 2, middle + 4, 11,
        {class: 'on', 'text-anchor': 'middle'}));
    }
  }
  return hover(group, () => sliceLines(data, slice));
}

/** The lines of a slice's tooltip. */
function sliceLines(data, slice) {
  return [
    data.gantt.callbacks[slice.callback],
    slice.tokens ? `for ${slice.tokens.split(';').join(', ').replace(/:(\d+)/g, ' #$1')}` : 'for no chain',
    `thread ${slice.thread}`,
    cpuLine(slice),
    `ran ${time(slice.start / 1e6)} to ${time(slice.end / 1e6)}, priority ${slice.priority}`,
    `waited ${time((slice.start - slice.ready) / 1e6)} after it was ready`,
    `CPU ${time(slice.cpu / 1e6)} of ` +
      `${time((slice.end - slice.start) / 1e6)}` +
      (slice.preemptions ? `, preempted ${slice.preemptions} ×` : ''),
    heldUp(slice) ? 'held up by something that is not recorded' : '',
    slice.outcome === 'ran' ? '' : `outcome: ${slice.outcome}`,
  ].filter((line) => line);
}
