// SPDX-License-Identifier: Apache-2.0
// What one may ask for: searches and simulations, as jobs with progress. A proposal is taken or left.

const POLL_MS = 150;
const ASKS = [
  ['synthesize', 'Find priorities', 'Priorities of callbacks by the bounds of the chains'],
  ['assign', 'Assign to CPUs', 'Executors, CPUs and priorities that keep the deadlines'],
  ['sensitivity', 'How much may grow', 'How far each execution time and period may change alone'],
  ['find_miss', 'Find a miss', 'Search for a schedule in which a deadline is missed'],
  ['simulate', 'Simulate', 'Simulate some hyperperiods, and show them on the timeline'],
];

function drawAsk() {
  const source = html('select', {id: 'source', 'aria-label': 'Priorities from'},
    [['bounds', 'bounds'], ['deadline', 'deadlines'], ['rate', 'rates'], ['given', 'chain priorities'],
      ['picas', 'PiCAS']].map(([value, text]) => html('option', {value, selected: value === plan.source}, text)));
  source.addEventListener('change', () => {
    plan.source = source.value;
  });
  const cpus = html('input', {type: 'text', id: 'cpus', class: 'text', 'aria-label': 'CPUs to assign to',
    placeholder: statedCpus().join(', ') || '0', value: plan.cpus || ''});
  cpus.addEventListener('change', () => {
    plan.cpus = cpus.value;
  });
  if (readOnly()) [source, cpus].forEach((each) => { each.disabled = true; });
  const options = {synthesize: [' from ', source], assign: [' CPUs ', cpus]};
  return html('section', {id: 'ask'}, html('h2', {}, 'Ask'),
    html('div', {class: 'asks'}, ASKS.map(([kind, text, title]) => html('span', {class: 'ask'},
      button(text, () => ask(kind, text), {title, 'data-ask': kind}), options[kind] || null))),
    plan.jobs.map(drawJob));
}

const statedCpus = () => [...new Set(model().executors.flatMap((each) => each.cpus))].sort((a, b) => a - b);

function askOptions(kind) {
  if (kind === 'synthesize') return {source: plan.source || 'bounds'};
  if (kind !== 'assign') return {};
  const cpus = (plan.cpus || '').split(/[\s,]+/).filter((word) => /^\d+$/.test(word)).map(Number);
  return cpus.length ? {cpus} : {};
}

async function ask(kind, title) {
  if (readOnly()) return;
  const job = {kind, title, state: 'runs', done: 0, text: ''};
  plan.jobs.filter((each) => each.kind === kind).forEach(forgetOnServer);
  plan.jobs = [job, ...plan.jobs.filter((each) => each.kind !== kind)];
  redraw();
  try {
    const made = await call('job', {kind, options: askOptions(kind)});
    Object.assign(job, {id: made.job, version: made.version});
  } catch (error) {
    Object.assign(job, {state: 'failed', error: error.message});
  }
  await followJob(job);
}

/** Shows how a job goes on, and its result. */
async function followJob(job) {
  try {
    while (job.state === 'runs' && plan.jobs.includes(job)) {
      Object.assign(job, await call('job_state', {job: job.id}));
      if (job.state !== 'runs') break;
      showProgress(job);
      await new Promise((resolve) => { setTimeout(resolve, POLL_MS); });
    }
  } catch (error) {
    Object.assign(job, {state: 'failed', error: error.message});
  }
  if (!plan.jobs.includes(job)) {
    forgetOnServer(job);
    return;
  }
  if (job.state === 'done') jobDone(job);
  redraw();
}

/** Finds the jobs again that an earlier load of this page has asked for. */
async function restoreJobs(listed) {
  const found = new Map();
  for (const {job: id, kind, version, state} of listed) {
    const title = (ASKS.find(([each]) => each === kind) || [])[1];
    if (title && !found.has(kind)) found.set(kind, {id, kind, title, version, state: 'runs', over: state !== 'runs', done: 0, text: ''});
  }
  plan.jobs = [...found.values()];
  redraw();
  // The oldest one first: the last result is the one that the timeline shows.
  for (const job of [...plan.jobs].reverse()) {
    const shown = followJob(job);
    if (job.over) await shown;
  }
}

function jobDone(job) {
  const {result} = job;
  if (result.simulation) plan.timeline = {data: result.simulation, version: job.version};
  if (result.misses) {
    plan.misses = {version: job.version, chains: new Set(result.misses.map((miss) => miss.chain))};
  }
}

/** Shows how far a job is, in the drawing that is there. */
function showProgress(job) {
  const box = document.querySelector(`[data-job="${CSS.escape(job.kind)}"]`);
  const bar = box && box.querySelector('progress');
  if (!bar) return;
  if (job.done) bar.value = job.done;
  box.querySelector('.note').textContent = ` ${job.text} `;
}

function forgetOnServer(job) {
  if (job.id && !readOnly()) call('job_forget', {job: job.id}).catch(() => {});
}

const isStale = (job) => job.version !== plan.state.version;

function drawJob(job) {
  const parts = {
    runs: () => [html('progress', job.done ? {value: job.done, max: 1} : {max: 1}),
      html('span', {class: 'note'}, ` ${job.text} `),
      button('Stop', () => call('job_stop', {job: job.id}).catch(() => {}), {class: 'small'})],
    stopped: () => [html('span', {class: 'note'}, 'stopped')],
    failed: () => [html('p', {class: 'wrong'}, job.error)],
    done: () => [JOB_RESULTS[job.kind](job)],
  }[job.state]();
  return html('div', {class: `job ${job.state}`, 'data-job': job.kind},
    html('h3', {}, job.title, button('×', () => forget(job), {class: 'plain close', 'data-always': '1',
      'aria-label': `Close ${job.title}`})), parts);
}

function forget(job) {
  plan.jobs = plan.jobs.filter((each) => each !== job);
  forgetOnServer(job);
  redraw();
}

/** A proposed change, with what it does to the bounds, to take or to leave. */
function drawProposal(job) {
  const {changes, notes, after} = job.result;
  const now = new Map(answer().analysis.chains.map((chain) => [chain.id, chain]));
  const held = after.filter((chain) => ['proved', 'conditional'].includes(chain.verdict)).length;
  const rows = after.map((chain) => html('tr', {}, html('th', {scope: 'row', class: 'name'}, chain.id),
    html('td', {}, exact(chain.bound_ms), delta(chain.bound_ms, now.has(chain.id) ? now.get(chain.id).bound_ms : undefined)),
    html('td', {}, verdictMark(chain.verdict))));
  const take = button('Take', async () => {
    plan.jobs = plan.jobs.filter((each) => each !== job);
    forgetOnServer(job);
    await change(changes, job.title.toLowerCase());
  }, {class: 'primary', 'data-take': job.kind});
  if (isStale(job)) take.disabled = true;
  return html('div', {class: 'proposal'},
    isStale(job) ? html('p', {class: 'stale note'}, 'This is for an earlier version: ask again.') : null,
    notes.map((note) => html('p', {class: 'note'}, note)),
    html('p', {}, changes.length ? `${changes.length} changes; ${held} of ${after.length} chains hold with them:`
      : 'No change: this is what the file has.'),
    changes.length ? html('table', {}, html('tbody', {}, rows)) : null,
    changes.length ? html('details', {}, html('summary', {}, 'The changes'),
      html('ul', {}, changes.slice(0, 60).map((each) => html('li', {}, changeText(each))))) : null,
    html('p', {class: 'choices'}, changes.length ? take : null,
    button('Leave', () => forget(job), {'data-always': '1', 'data-leave': job.kind})));
}

function changeText(each) {
  if (each.op === 'executor') return `new executor ${each.name} on CPU ${each.cpus.join(', ') || 'any'}`;
  if (each.op === 'move') return `${each.callback} to ${each.executor}`;
  const [, id, ...rest] = each.path;
  return `${rest.join('.')} of ${id}: ${each.value === null ? 'removed' : each.value}`;
}

function drawMargins(job) {
  const {factor, factor_conditional: conditional, unit, wcets, periods} = job.result.margins;
  const line = (what, field) => (margin) => {
    const limit = margin.unlimited ? 'any' : margin.limit === null ? 'none' : significant(margin.limit, 5);
    const take = margin.unlimited || margin.limit === null || margin.limit === margin.stated ? null
      : button('Take', () => takeMargin(margin, field), {class: 'small'});
    return html('tr', {}, html('th', {scope: 'row', class: 'name'}, `${what} of ${margin.id}`),
      html('td', {}, significant(margin.stated, 5)), html('td', {}, limit),
      html('td', {}, take, margin.conditional ? html('span', {class: 'note'}, ' conditional') : null));
  };
  return html('div', {},
    html('p', {}, factor === null ? 'No factor of all execution times keeps the deadlines.'
      : `All execution times together may be ${significant(factor, 4)} times as long${conditional ? ' (conditional)' : ''}.`),
    html('div', {class: 'margins'}, html('table', {},
      html('thead', {}, html('tr', {}, ['', 'now', 'limit', ''].map((head, index) =>
        html('th', {scope: 'col', class: index ? null : 'name'}, head,
          index === 1 || index === 2 ? html('span', {class: 'unit'}, unit) : null)))),
      html('tbody', {}, wcets.map(line('WCET', 'wcet_ms')), periods.map(line('period', 'period_ms'))))));
}

function takeMargin(margin, field) {
  const callback = callbackById(margin.id);
  if (!callback) return;
  const path = field === 'wcet_ms' ? ['wcet_ms']
    : [callback.kind, callback.period_ms ? 'period_ms' : 'min_interval_ms'];
  set(['callbacks', margin.id, ...path], trimmed(margin.limit), `${FIELD_NAMES[field]} of ${margin.id} at its limit`);
}

function drawMisses(job) {
  const {misses, analysis} = job.result;
  const why = analysis.not_searched ? html('p', {class: 'note'}, `Not searched: ${analysis.not_searched}`) : null;
  if (!misses.length) return html('div', {}, html('p', {}, 'No miss was found.'), why);
  return html('div', {}, misses.map((miss) => html('p', {},
    html('strong', {}, miss.chain), miss.limit === 'deadline' ? ' misses its deadline: response '
      : ` exceeds its largest ${miss.limit}: `, html('strong', {class: 'late-text'}, nominal(miss.response_ms)))),
  html('p', {class: 'note'}, 'The timeline below shows the first of these schedules.'), why);
}

function drawSimulated(job) {
  const {chains, note} = job.result.simulation;
  return html('div', {}, html('p', {class: 'note'}, `${note}; the timeline is below.`),
    html('table', {}, html('thead', {}, html('tr', {}, ['Chain', 'Released', 'Missed', 'Worst'].map((head, index) =>
      html('th', {scope: 'col', class: index ? null : 'name'}, head,
        index === 3 ? html('span', {class: 'unit'}, 'ms') : null)))),
    html('tbody', {}, chains.map((chain) => html('tr', {}, html('th', {scope: 'row', class: 'name'}, chain.id),
      html('td', {}, chain.released), html('td', {class: chain.missed ? 'late-text' : null}, chain.missed),
      html('td', {}, exact(chain.worst_ms)))))));
}

const JOB_RESULTS = {synthesize: drawProposal, assign: drawProposal, sensitivity: drawMargins,
  find_miss: drawMisses, simulate: drawSimulated};

/** The timeline of the last simulation, below the graph. */
function drawTimeline() {
  const work = document.getElementById('work');
  let place = document.getElementById('drawer');
  if (!plan.timeline) {
    if (place) place.remove();
    document.body.classList.remove('has-drawer');
    return;
  }
  document.body.classList.add('has-drawer');
  if (place && place.timeline === plan.timeline) {
    place.querySelector('.stale').hidden = plan.timeline.version === plan.state.version;
    return;
  }
  if (place) place.remove();
  place = html('section', {id: 'drawer', 'aria-label': 'Timeline'},
    html('p', {class: 'stale note'}, 'This timeline is of an earlier version.'),
    button('×', () => {
      plan.timeline = null;
      drawTimeline();
    }, {class: 'plain close', 'data-always': '1', 'aria-label': 'Close the timeline'}),
    drawGantt(plan.timeline.data));
  place.timeline = plan.timeline;
  place.querySelector('.stale').hidden = plan.timeline.version === plan.state.version;
  work.after(place);
}
