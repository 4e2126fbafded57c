// SPDX-License-Identifier: Apache-2.0
// The fields of what is selected: a callback, a chain or an executor.

/** A number with a slider: {name, path, value, start, unit, most, empty}. */
function numberField(field) {
  const label = `${field.owner}: ${field.name}`;
  const input = html('input', {type: 'text', inputmode: 'decimal', class: 'number', 'aria-label': label,
    'data-field': field.key, value: textOf(field.value), placeholder: field.empty || ''});
  const slider = html('input', {type: 'range', class: 'slider', 'aria-label': `${label}, slider`, tabindex: -1,
    min: field.least || 0, max: sliderMost(field), step: sliderStep(field),
    value: field.value === null ? field.shown || 0 : field.value});
  const send = (text, options) => {
    const value = text.trim();
    set(field.path, value === '' ? null : value, `${field.name} of ${field.owner}`, options);
  };
  input.addEventListener('change', () => {
    input.defaultValue = input.value;  // it is sent, and no longer typed
    if (input.value.trim() !== textOf(field.value)) send(input.value);
  });
  slider.addEventListener('pointerdown', () => {
    plan.sliding = 'begun';
  });
  slider.addEventListener('input', () => {
    input.value = trimmed(Number(slider.value));
    send(input.value, {merge: plan.sliding === 'moved'});
    if (plan.sliding) plan.sliding = 'moved';
  });
  return row(field, html('span', {class: 'pair'}, input, html('span', {class: 'unit-in'}, field.unit || '')), slider);
}

addEventListener('pointerup', () => {
  if (!plan.sliding) return;
  plan.sliding = null;
  redraw();
});

const trimmed = (value) => String(Number(value.toFixed(6)));
const textOf = (value) => (value === null || value === undefined ? '' : trimmed(value));

function sliderMost(field) {
  const base = Math.max(field.start || 0, field.value || 0, field.shown || 0);
  return field.most || (field.integer ? Math.max(10, base * 2) : Math.max(1, base * 2.5));
}

function sliderStep(field) {
  if (field.integer) return 1;
  const most = sliderMost(field);
  return most > 200 ? 1 : most > 20 ? 0.1 : most > 2 ? 0.05 : 0.01;
}

/** A line of the form: name, control, and the value of the start if it differs. */
function row(field, ...controls) {
  const differs = field.start !== undefined && (field.start ?? null) !== (field.value ?? null);
  for (const control of controls) {
    for (const each of [control, ...control.querySelectorAll('input, select, button')]) {
      if ('disabled' in each && (readOnly() || field.fixed)) each.disabled = true;
    }
  }
  const back = differs
    ? button(`start: ${field.start === null ? '–' : typeof field.start === 'number' ? trimmed(field.start) : field.start}`,
      () => (field.send ? field.send(field.start || '')
        : set(field.path, field.start, `${field.name} of ${field.owner} as at the start`)),
      {class: 'plain back', title: 'Set the value of the start'}) : null;
  return html('div', {class: `field${differs ? ' differs' : ''}`},
    html('span', {class: 'field-name'}, field.name), html('span', {class: 'controls-in'}, controls), back);
}

function textField(field) {
  const input = html('input', {type: 'text', class: 'text', 'aria-label': `${field.owner}: ${field.name}`,
    'data-field': field.key, value: field.value || '', placeholder: field.empty || ''});
  input.addEventListener('change', () => {
    input.defaultValue = input.value;
    const value = input.value.trim();
    if (value !== (field.value || '')) field.send(value);
  });
  return row(field, input);
}

function drawInspector() {
  const chosen = plan.selected;
  if (!chosen) {
    return html('section', {id: 'inspector'}, html('h2', {}, 'Change'),
      html('p', {class: 'note'}, 'Select a callback, a chain or an executor, or drag a callback to another ' +
        'executor. Every change is analysed at once.'));
  }
  const drawn = {callback: callbackFields, chain: chainFields, executor: executorFields,
    group: groupFields}[chosen.kind](chosen.id);
  return drawn || null;
}

function form(kind, name, note, fields, below = null) {
  return html('section', {id: 'inspector', 'aria-label': `${kind} ${name}`},
    html('h2', {}, html('span', {class: 'kind'}, `${kind} `), name,
      button('×', () => select(null), {class: 'plain close', 'data-always': '1', title: 'Close ( Esc )',
        'aria-label': 'Close'})),
    note ? html('p', {class: 'note'}, note) : null,
    html('div', {class: 'fields'}, fields.filter((field) => field)), below);
}

function callbackFields(id) {
  const callback = callbackById(id);
  if (!callback) return null;
  const before = callbackById(id, startModel()) || {};
  const number = (key, name, path, extra = {}) => numberField({key, name, owner: id,
    path: ['callbacks', id, ...path], value: callback[key], start: before[key], unit: 'ms', ...extra});
  const trigger = callback.kind;
  const has = (key) => callback[key] !== null && callback[key] !== undefined;
  return form(trigger, id, `of node ${nodeName(model().nodes[callback.node])}`, [
    number('priority', 'priority', ['priority'], {integer: true, unit: '', shown: callback.level,
      most: Math.max(10, ...model().callbacks.map((each) => each.level)) + 2,
      empty: `${callback.level}, of its chains`}),
    number('wcet_ms', 'WCET', ['wcet_ms'], {fixed: callback.workload !== null,
      most: Math.max(1, 2.5 * (before.wcet_ms || callback.wcet_ms), callback.wcet_ms)}),
    number('waits_ms', 'wait', ['waits_ms']),
    trigger === 'timer' || (trigger === 'event' && callback.period_ms)
      ? number('period_ms', 'period', [trigger, 'period_ms'], {least: 0.1}) : null,
    trigger === 'event' && !callback.period_ms
      ? number('min_interval_ms', 'shortest interval', [trigger, 'min_interval_ms'], {least: 0.1}) : null,
    trigger === 'event' && callback.period_ms ? number('jitter_ms', 'jitter', [trigger, 'jitter_ms']) : null,
    trigger === 'timer' || trigger === 'event'
      ? number('offset_ms', 'offset', [trigger, 'offset_ms'], {most: callback.interval_ms, empty: 'unknown'}) : null,
    trigger === 'sync' ? number('window_ms', 'window', [trigger, 'window_ms']) : null,
    has('depth') && trigger !== 'client'
      ? number('depth', 'queue depth', [trigger, 'depth'], {integer: true, unit: '', least: 1}) : null,
    number('deadline_ms', 'deadline', ['deadline_ms'], {empty: 'none',
      shown: callback.interval_ms || 0}),
    textField({key: 'group', name: 'group', owner: id, value: callback.group, start: before.group,
      path: ['callbacks', id, 'group'], empty: 'none',
      send: (value) => set(['callbacks', id, 'group'], value || null, `group of ${id}`)}),
    executorField(callback, before),
  ], drawObservedCallback(id));
}

/** A list of executors; `moves` gets the name of the chosen one, or null for a new one. */
function executorChoice(owner, current, moves) {
  const {executors} = model();
  const choice = html('select', {'aria-label': `${owner}: executor`, 'data-field': 'executor'},
    executors.map((each, index) => html('option', {value: index, selected: index === current},
      each.name + (each.cpus.length ? ` (CPU ${each.cpus.join(', ')})` : ''))),
    html('option', {value: 'new'}, 'new executor …'));
  choice.addEventListener('change', () =>
    moves(choice.value === 'new' ? null : executors[Number(choice.value)].name));
  return choice;
}

/** The callbacks of a card that stands for several: they can be moved, or shown one by one. */
function groupFields(key) {
  const card = graphModel().cards.find((each) => each.key === key);
  if (!card) return null;
  const ids = card.callbacks.map((index) => model().callbacks[index].id);
  const move = async (name) => {
    const to = name === null ? model().executors.length : model().executors.findIndex((each) => each.name === name);
    plan.selected = {kind: 'group', id: `g:${card.group}:${to}`};  // the card has another key there
    await (name === null ? moveToNew(ids) : moveTo(ids, name));
    const isLost = plan.selected && plan.selected.kind === 'group' &&
      !graphModel().cards.some((each) => each.key === plan.selected.id);
    if (isLost) plan.selected = null;  // the move was refused
    redraw();
  };
  return form('group', card.group, cardFacts(card), [
    row({name: 'executor', owner: card.group, value: card.executor}, executorChoice(card.group, card.executor, move)),
    html('p', {}, button('Show its callbacks', () => openGroup(card), {'data-always': '1', id: 'open-group'})),
  ]);
}

function openGroup(card) {
  if (isSelected('group', card.key)) plan.selected = null;
  plan.expanded.add(card.group);
  redraw();
}

function executorField(callback, before) {
  const {executors} = model();
  const choice = executorChoice(callback.id, callback.executor, (name) =>
    (name === null ? moveToNew([callback.id]) : moveTo([callback.id], name)));
  const was = before.executor === undefined ? undefined : startModel().executors[before.executor].name;
  const line = row({name: 'executor', owner: callback.id, value: executors[callback.executor].name}, choice);
  if (was !== undefined && was !== executors[callback.executor].name) {
    line.classList.add('differs');
    line.append(button(`start: ${was}`, () => moveTo([callback.id], was), {class: 'plain back'}));
  }
  return line;
}

function chainFields(id) {
  const chain = allChains().find((each) => each.id === id);
  if (!chain) return null;
  const before = allChains(plan.state.start).find((each) => each.id === id) || {};
  const stated = answer().stated.chains.includes(id);
  const number = (key, name, extra = {}) => numberField({key, name, owner: id, path: ['chains', id, key],
    value: chain[key], start: before[key], unit: 'ms', fixed: !stated, empty: 'none', ...extra});
  const names = chain.callbacks.map((index) => model().callbacks[index].id).join(' → ');
  return form('chain', id, stated ? names : `${names} (a segment of a chain that samples)`, chain.samples ? [
    number('max_reaction_ms', 'max. reaction'), number('max_age_ms', 'max. age')]
    : [number('priority', 'priority', {integer: true, unit: '',
      most: Math.max(10, ...model().chains.map((each) => each.priority + 2))}),
    number('deadline_ms', 'deadline', {shown: chain.deadline_ms})]);
}

function executorFields(name) {
  const executor = model().executors.find((each) => each.name === name);
  if (!executor) return null;
  const before = startModel().executors.find((each) => each.name === name) || {};
  const path = ['executors', name];
  const was = before.cpus ? before.cpus.join(', ') : undefined;
  return form('executor', name, answer().stated.executors ? '' : 'the only one: the file names none', [
    textField({key: 'cpus', name: 'CPUs', owner: name, value: executor.cpus.join(', '), start: was,
      path: [...path, 'cpus'], empty: 'any', send: (text) => sendCpus(name, text)}),
    numberField({key: 'top_priority', name: 'top priority', owner: name, path: [...path, 'top_priority'],
      value: executor.top_priority, start: before.top_priority, integer: true, unit: '', least: 2, most: 95,
      shown: 95, empty: 'default'}),
  ]);
}

function sendCpus(name, text) {
  const cpus = text.split(/[\s,]+/).filter((word) => word);
  if (!cpus.every((word) => /^\d+$/.test(word))) {
    say(`CPUs of ${name}: expected numbers such as 1, 2`, true);
    redraw();
    return;
  }
  set(['executors', name, 'cpus'], cpus.length ? cpus.map(Number) : null, `CPUs of ${name}`);
}
