// SPDX-License-Identifier: Apache-2.0
// Puts the page together, and draws it again after each change.

function drawTop() {
  const {state} = plan;
  const executor = html('select', {id: 'executor', 'aria-label': 'Kind of executor'},
    [...new Set([...state.executors, state.executor])].map((name) =>
      html('option', {value: name, selected: name === state.executor}, name)));
  executor.addEventListener('change', () => request('executor', {executor: executor.value}));
  if (readOnly()) executor.disabled = true;
  return [
    html('div', {class: 'title'}, html('h1', {}, model().name),
      html('span', {class: 'note'}, state.file, state.dirty ? html('span', {id: 'dirty'}, ' · not saved') : null,
        plan.offline ? ' · saved page, read only' : null)),
    drawHeadline(),
    html('label', {class: 'kind-choice'}, html('span', {class: 'note'}, 'executor '), executor),
    drawHistory(),
    html('span', {class: 'file-buttons'},
      state.offers ? button('Examples', openExamples, {id: 'examples', title: 'Open another example'}) : null,
      button('Diff', openDiff, {id: 'diff', title: 'The differences to the file'}),
      button('Save …', openSave, {id: 'save', class: state.dirty ? 'primary' : null, title: 'Ctrl+S'}),
      button('?', openHelp, {id: 'help', 'data-always': '1', 'aria-label': 'Keys'})),
    html('span', {id: 'busy'}, 'analysing … ', cancelButton()),
  ];
}

function cancelButton() {
  const cancel = button('Cancel', () => call('cancel').catch(() => {}), {id: 'cancel', class: 'small'});
  cancel.hidden = true;
  return cancel;
}

let pressed = false;    // the button of the pointer: what is under it must stay until the click
let postponed = false;
let chosenFrom = null;  // a list that may be open

addEventListener('pointerdown', (event) => {
  pressed = event.isTrusted;
  chosenFrom = event.target.closest && event.target.closest('select');
}, true);
for (const name of ['pointerup', 'pointercancel']) {
  addEventListener(name, () => setTimeout(() => {
    pressed = false;
    if (postponed) redraw();
  }, 0));
}
addEventListener('change', () => {
  chosenFrom = null;
}, true);
addEventListener('focusout', () => setTimeout(() => {
  if (postponed) redraw();
}, 0));

/** The field in which a person types or chooses right now; a new drawing of it would lose that. */
function fieldInUse() {
  const field = document.activeElement;
  if (!field || !field.closest('#top, #side')) return null;
  if (field.tagName === 'SELECT') return field === chosenFrom ? field : null;
  const typed = field.tagName === 'INPUT' && !['range', 'checkbox'].includes(field.type);
  return typed && field.value !== field.defaultValue ? field : null;
}

/** Draws everything, and leaves the focus where it was. Waits while the pointer is pressed. */
function redraw() {
  if (!isOpen()) return;
  postponed = pressed && !plan.sliding;
  if (postponed) return;
  const used = fieldInUse();
  if (used) postponed = true;
  const side = document.getElementById('side');
  const focus = focusOf(document.activeElement);
  const top = side.scrollTop;
  hideTooltip();
  if (!used || !used.closest('#top')) document.getElementById('top').replaceChildren(...drawTop());
  const sections = [drawChains(), drawRobots(), drawInspector(), drawAsk(), drawLoad(), drawWarnings(), drawVariants()]
    .filter((section) => section);
  // A slider that is held must stay in the page, as a field in use.
  const stays = plan.sliding ? 'inspector' : used && used.closest('#side') ? used.closest('section').id : null;
  if (stays) sections.filter((each) => each.id !== stays).forEach(replaceSection);
  else side.replaceChildren(...sections);
  side.scrollTop = top;
  drawGraph();
  drawTimeline();
  const again = focus && document.querySelector(focus);
  if (again && again !== document.activeElement) again.focus({preventScroll: true});
}

function replaceSection(section) {
  const old = document.getElementById(section.id);
  if (old) old.replaceWith(section);
}

/** A selector that finds the same control after everything was drawn again. */
function focusOf(element) {
  if (!element || element === document.body || element.closest('#drawer, dialog')) return null;
  if (element.id) return `#${CSS.escape(element.id)}`;
  for (const name of ['data-field', 'data-chain', 'data-ask', 'data-take', 'data-missed', 'data-part']) {
    const value = element.getAttribute(name);
    if (value) return `[${name}="${CSS.escape(value)}"]`;
  }
  const name = element.getAttribute('aria-label');
  return name && element.closest('#side, #top') ? `[aria-label="${CSS.escape(name)}"]` : null;
}

async function openPlan() {
  const data = JSON.parse(document.getElementById('data').textContent);
  if (data) {
    plan.offline = true;
    setState(data);
  } else {
    setState(await call('state'));
  }
  document.body.classList.add('ready');
  plan.readyAt = performance.now();
  followRun();
}

openPlan();
