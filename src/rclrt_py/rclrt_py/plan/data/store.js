// SPDX-License-Identifier: Apache-2.0
// The state of the page, and its requests to the server.

const plan = {
  state: null,       // as the server gives it
  offline: false,    // one saved file: read only
  lost: false,       // the server does not answer: read only
  selected: null,    // {kind: 'callback' | 'chain' | 'executor' | 'group', id}
  isolate: false,    // only the selected chain is in the graph
  search: '',
  grouping: null,    // 'callbacks', 'nodes', 'namespaces'; null: by size
  expanded: new Set(),
  jobs: [],          // what was asked: newest first
  timeline: null,    // {data, version} of the last simulation
  misses: null,      // {version, chains} of the last search
};
const BUSY_AFTER_MS = 100;

const answer = () => plan.state.answer;
const model = () => plan.state.answer.model;
const startModel = () => plan.state.start.model;
const readOnly = () => plan.offline || plan.lost;

/** Asks the server, as a page that shows the current version. Throws an Error with its message. If
 * the server is gone, or another one has its port, the page becomes read only. */
async function call(method, body = {}) {
  let response;
  try {
    response = await fetch(method, {method: 'POST', headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({base: isOpen() ? plan.state.version : 0, ...body})});
  } catch (error) {
    setLost(true);
    throw new Error('The server does not answer.');
  }
  const lost = [403, 404, 421].includes(response.status);
  setLost(lost);
  if (lost) throw new Error('Another server has this address.');
  const document = await response.json().catch(() => ({error: `status ${response.status}`}));
  if (!response.ok) {
    if (document.state) setState(document.state);  // the one that another page has made
    throw new Error(document.error || `status ${response.status}`);
  }
  return document;
}

function setLost(lost) {
  if (plan.lost === lost) return;
  plan.lost = lost;
  const banner = document.getElementById('lost');
  banner.hidden = !lost;
  banner.replaceChildren(
    'The server does not answer, so this page is read only. It may have been ended by Ctrl-C: ' +
    'start rclrt plan again, and open its new address. ',
    html('button', {type: 'button', id: 'retry'}, 'Try again'));
  banner.querySelector('button').addEventListener('click', () => call('state').then(setState,
    (error) => say(error.message, true)));
  if (isOpen()) redraw();
  else if (plan.state) drawChooser();
}

let running = false;
const waiting = [];

/** Sends requests one after the other. `body` may be a function, which is called when the request
 * is sent. A step of a slider takes the place of one that waits; it is one change with those before. */
async function request(method, body, {merge = false} = {}) {
  if (readOnly()) return;
  const last = waiting[waiting.length - 1];
  if (merge && last && last.method === method && last.body.label === body.label) last.body = body;
  else waiting.push({method, body, merge});
  if (running) return;
  running = true;
  while (waiting.length) await send(waiting.shift());
  running = false;
}

async function send({method, body, merge}) {
  const timer = setTimeout(() => setBusy(true), BUSY_AFTER_MS);
  try {
    const state = await call(method, {...(typeof body === 'function' ? body() : body), merge});
    setState(state);
    say('');
    if (!isOpen()) return;
    document.getElementById('live').textContent = headlineText(verdictCounts());  // for screen readers
  } catch (error) {
    say(error.message, true);
    if (isOpen()) redraw();  // fields show the values that still hold
  } finally {
    clearTimeout(timer);
    setBusy(false);
  }
}

/** Changes values of the file. */
function change(changes, label, options) {
  return request('change', {changes, label}, options);
}

function set(path, value, label, options) {
  return change([{op: 'set', path, value}], label, options);
}

function setState(state) {
  // The whole state, of the first application or of another one.
  const other = state.first !== undefined && (!plan.state || plan.state.first !== state.first);
  if (other && plan.state) forgetApplication();
  plan.state = {...(plan.state || {}), ...state};
  document.body.classList.toggle('choosing', !isOpen());
  if (!isOpen()) {
    drawChooser();
    return;
  }
  document.title = `${model().name} · rclrt plan`;
  redraw();
  if (other && state.jobs && state.jobs.length) restoreJobs(state.jobs);
}

/** Forgets what is known of the application that was open before. */
function forgetApplication() {
  Object.assign(plan, {selected: null, isolate: false, search: '', grouping: null, jobs: [], timeline: null,
    misses: null, source: null, cpus: null});
  plan.expanded.clear();
  const search = document.getElementById('search');
  if (search) search.value = '';
}

function setBusy(busy) {
  document.body.classList.toggle('busy', busy);
  const cancel = document.getElementById('cancel');
  if (cancel) cancel.hidden = !busy;
}

/** Shows a message until the next one; '' removes it. */
function say(text, wrong = false) {
  const line = document.getElementById('message');
  line.textContent = text;
  line.classList.toggle('wrong', wrong);
  line.hidden = !text;
}

function select(kind, id) {
  plan.selected = kind ? {kind, id} : null;
  if (!kind || kind !== 'chain') plan.isolate = false;
  redraw();
}

function isSelected(kind, id) {
  return Boolean(plan.selected) && plan.selected.kind === kind && plan.selected.id === id;
}

const selectedChain = () => {
  if (!plan.selected || plan.selected.kind !== 'chain') return null;
  return allChains().find((chain) => chain.id === plan.selected.id) || null;
};

const kept = new WeakMap();

/** The result of a function of an object, computed once: answers do not change. */
function once(from, name, compute) {
  if (!kept.has(from)) kept.set(from, {});
  const results = kept.get(from);
  if (!(name in results)) results[name] = compute(from);
  return results[name];
}

/** All chains with their colour and their answer: those of messages, then those that sample. */
const allChains = (from = plan.state.answer) => once(from, 'chains', chainsOf);

function chainsOf(from) {
  const bounds = from.analysis.chains;
  const sampled = from.analysis.cause_effect_chains || [];
  return [
    ...from.model.chains.map((chain, index) => ({...chain, colour: index, bound: bounds[index]})),
    ...from.model.cause_effect_chains.map((chain, index) => ({...chain, samples: true,
      colour: from.model.chains.length + index, bound: sampled[index]})),
  ];
}

function callbackById(id, from = model()) {
  return once(from, 'callbacks', () => new Map(from.callbacks.map((each) => [each.id, each]))).get(id);
}

/** The verdict of a chain; refuted if a miss was found in this version. */
function verdictOf(chain, from = plan.state.answer) {
  const missed = from === plan.state.answer && plan.misses && plan.misses.version === plan.state.version &&
    plan.misses.chains.has(chain.id);
  return missed ? 'refuted' : chain.bound.verdict;
}

/** A button that is inactive on a page that is read only. */
function button(text, does, attributes = {}) {
  const made = html('button', {type: 'button', ...attributes}, text);
  if (readOnly() && !attributes['data-always']) made.disabled = true;
  made.addEventListener('click', does);
  return made;
}
