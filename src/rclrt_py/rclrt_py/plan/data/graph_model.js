// SPDX-License-Identifier: Apache-2.0
// What the graph shows: cards (callbacks, or groups of them), edges with the chains on them, and
// containers for executors.

const MOST_CARDS = 150;

/** The grouping that the reader chose, or else the finest one with few enough cards. */
function grouping() {
  if (plan.grouping) return plan.grouping;
  const {callbacks, nodes} = model();
  if (callbacks.length <= MOST_CARDS) return 'callbacks';
  return nodes.length <= MOST_CARDS ? 'nodes' : 'namespaces';
}

function groupName(callback) {
  const node = model().nodes[callback.node];
  const names = {callbacks: null, nodes: nodeName(node), namespaces: node.namespace};
  const name = names[grouping()];
  return name === null || plan.expanded.has(name) ? null : name;
}

const nodeName = (node) =>
  (node.namespace === '/' ? node.name : `${node.namespace.replace(/\/$/, '')}/${node.name}`);

/** The cards and edges of the current version. */
function graphModel() {
  const {callbacks, executors} = model();
  const chains = allChains();
  const focus = plan.isolate ? selectedChain() : null;
  const kept = (index) => !focus || focus.callbacks.includes(index);
  const cards = new Map();
  const cardOf = callbacks.map((callback, index) => {
    if (!kept(index)) return null;
    const group = groupName(callback);
    const key = group === null ? `c:${callback.id}` : `g:${group}:${callback.executor}`;
    if (!cards.has(key)) {
      cards.set(key, {key, group, callbacks: [], executor: callback.executor, chains: new Set()});
    }
    cards.get(key).callbacks.push(index);
    return key;
  });
  chains.forEach((chain) => chain.callbacks.forEach((index) => {
    if (cardOf[index]) cards.get(cardOf[index]).chains.add(chain.colour);
  }));
  const edges = new Map();
  const add = (from, to, topic, kind) => {
    const [a, b] = [cardOf[from], cardOf[to]];
    if (!a || !b || a === b) return;
    const key = `${a}>${b}`;
    if (!edges.has(key)) edges.set(key, {key, from: a, to: b, topics: new Set(), kind, chains: new Set()});
    edges.get(key).topics.add(topic);
  };
  eachLink(callbacks, add);
  chains.forEach((chain) => chain.callbacks.slice(1).forEach((to, place) => {
    const edge = edges.get(`${cardOf[chain.callbacks[place]]}>${cardOf[to]}`);
    if (edge) edge.chains.add(chain.colour);
  }));
  return {cards: [...cards.values()], edges: [...edges.values()],
    executors: executors.map((executor, index) => ({...executor, index}))
      .filter((executor) => !focus || [...cards.values()].some((card) => card.executor === executor.index))};
}

/** Calls `add(from, to, name, kind)` for each way by which a callback leads to another. */
function eachLink(callbacks, add) {
  const by = (key) => {
    const found = new Map();
    callbacks.forEach((callback, index) => callback[key].forEach((name) => {
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(index);
    }));
    return found;
  };
  const [publishers, writers] = [by('publishes'), by('stores')];
  callbacks.forEach((callback, to) => {
    const each = (names, sources, kind) => names.forEach((name) =>
      (sources.get(name) || []).forEach((from) => add(from, to, name, kind)));
    each(callback.inputs, publishers, 'topic');
    each(callback.reads, writers, 'variable');
    each(callback.samples, publishers, 'sampled');
  });
}

/** When a callback is released, as a short text. */
function releases(callback) {
  if (callback.kind === 'timer') return `every ${nominal(callback.period_ms)}`;
  if (callback.kind === 'event') {
    return callback.period_ms ? `event, ${nominal(callback.period_ms)}`
      : `event, ≥ ${nominal(callback.interval_ms)}`;
  }
  return callback.kind === 'subscription' ? '' : callback.kind;
}

/** The values of a callback that differ from the start: [field, before, now]. */
function differences(callback) {
  const before = callbackById(callback.id, startModel());
  if (!before) return [];
  const fields = ['level', 'wcet_ms', 'waits_ms', 'period_ms', 'offset_ms', 'min_interval_ms',
    'jitter_ms', 'deadline_ms', 'depth', 'group'];
  const found = fields.filter((field) => before[field] !== callback[field])
    .map((field) => [field, before[field], callback[field]]);
  const [was, is] = [startModel().executors[before.executor], model().executors[callback.executor]];
  if (was.name !== is.name) found.push(['executor', was.name, is.name]);
  return found;
}

const FIELD_NAMES = {level: 'priority', wcet_ms: 'WCET', waits_ms: 'wait', period_ms: 'period',
  offset_ms: 'offset', min_interval_ms: 'shortest interval', jitter_ms: 'jitter', deadline_ms: 'deadline',
  depth: 'queue depth', group: 'group', executor: 'executor'};

function differenceLines(callback) {
  return differences(callback).map(([field, before]) => {
    const text = before === null || before === undefined ? 'none'
      : field.endsWith('_ms') ? nominal(before) : String(before);
    return `${FIELD_NAMES[field]} was ${text} at the start`;
  });
}
