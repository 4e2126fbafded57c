// SPDX-License-Identifier: Apache-2.0
// The keys of the page. All buttons and fields can be reached by Tab, too.

const KEYS = [
  ['Ctrl+Z, Ctrl+Shift+Z', 'undo, redo'],
  ['Ctrl+S', 'save'],
  ['/', 'search'],
  ['arrows', 'from card to card in the graph'],
  ['Enter', 'select what has the focus'],
  ['P W D E', 'priority, WCET, deadline, executor of what is selected, or of the card that has the focus'],
  ['+ − 0', 'larger, smaller, fit the graph'],
  ['F', 'only the selected chain'],
  ['Esc', 'end the selection'],
  ['?', 'these keys'],
];
const FIELD_KEYS = {p: 'priority', w: 'wcet_ms', d: 'deadline_ms', e: 'executor'};

function openHelp() {
  dialog('help-dialog', 'Keys', html('dl', {class: 'facts'},
    KEYS.map(([keys, text]) => [html('dt', {}, keys), html('dd', {}, text)])),
  html('p', {class: 'choices'}, closeButton()));
}

addEventListener('keydown', (event) => {
  if (!isOpen() || document.querySelector('dialog[open]')) return;
  const typed = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== 'checkbox'
    && event.target.type !== 'range';
  if (event.ctrlKey || event.metaKey) {
    const key = event.key.toLowerCase();
    const does = {z: event.shiftKey ? redo : undo, y: redo, s: openSave}[key];
    // While a text is typed, Ctrl+Z is for this text.
    const typing = typed && event.target.value !== event.target.defaultValue && event.target.tagName === 'INPUT';
    if (!does || (typing && key !== 's')) return;
    event.preventDefault();
    does();
    return;
  }
  if (event.key === 'Escape') {
    if (typed) event.target.blur();
    else select(null);
    return;
  }
  if (typed || event.altKey) return;
  if (/^Arrow/.test(event.key)) {
    if (event.target.type !== 'range' && moveFocus(event.key)) event.preventDefault();
    return;
  }
  const does = {
    '/': () => document.getElementById('search').focus(), '?': openHelp,
    '+': () => zoomView(1.25), '=': () => zoomView(1.25), '-': () => zoomView(0.8), 0: fitView,
    f: toggleIsolate,
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  const field = FIELD_KEYS[event.key.toLowerCase()];
  if (does) does();
  else if (field) focusField(field);
  else return;
  event.preventDefault();
});

function toggleIsolate() {
  if (!selectedChain()) return;
  plan.isolate = !plan.isolate;
  drawGraph();
}

/** Selects the callback, or the group of callbacks, of the card that has the focus. */
function selectFocused() {
  const card = document.activeElement && document.activeElement.closest('.card');
  if (!card) return;
  const [key, callback] = [card.getAttribute('data-key'), card.getAttribute('data-callback')];
  if (callback !== null && !isSelected('callback', callback)) select('callback', callback);
  else if (callback === null && !isSelected('group', key)) select('group', key);
}

function focusField(field) {
  selectFocused();
  const input = document.querySelector(`#inspector [data-field="${field}"]`);
  if (!input) return;
  input.focus();
  if (input.select) input.select();
}

/** Moves the focus to the nearest card in a direction. */
function moveFocus(key) {
  const cards = [...document.querySelectorAll('.card')];
  const from = document.activeElement.closest && document.activeElement.closest('.card');
  if (!from) {
    const inGraph = document.activeElement === document.body || document.activeElement.closest('#graph');
    if (inGraph && cards.length) cards[0].focus();
    return Boolean(inGraph);
  }
  const centre = (card) => {
    const box = card.querySelector('.back').getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const [x, y] = centre(from);
  const [dx, dy] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[key];
  let best = null;
  for (const card of cards) {
    const [cx, cy] = centre(card);
    const ahead = (cx - x) * dx + (cy - y) * dy;
    const aside = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
    if (card !== from && ahead > 4 && (!best || ahead + 2 * aside < best.cost)) {
      best = {card, cost: ahead + 2 * aside};
    }
  }
  if (best) best.card.focus();
  return true;
}
