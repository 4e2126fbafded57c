// SPDX-License-Identifier: Apache-2.0
// Undo and redo, and variants side by side.

const undo = () => request('go', {step: -1});
const redo = () => request('go', {step: 1});

function drawHistory() {
  const {position, labels} = plan.state;
  const back = button('↶', undo, {id: 'undo', 'aria-label': 'Undo',
    title: position ? `Undo: ${labels[position - 1]} ( Ctrl+Z )` : 'Nothing to undo'});
  const forth = button('↷', redo, {id: 'redo', 'aria-label': 'Redo',
    title: position < labels.length ? `Redo: ${labels[position]} ( Ctrl+Shift+Z )` : 'Nothing to redo'});
  const reset = button('Reset', () => request('reset', {}), {id: 'reset', title: 'Back to the start; undo brings it back'});
  if (!position) back.disabled = true;
  if (position >= labels.length) forth.disabled = true;
  if (!plan.state.dirty && position === 0) reset.disabled = true;
  return html('span', {class: 'history'}, back, forth, reset);
}

function drawVariants() {
  const {variants} = plan.state;
  const name = html('input', {type: 'text', id: 'variant-name', class: 'text', maxlength: 60,
    'aria-label': 'Name of a variant', placeholder: `variant ${variants.length + 1}`});
  if (readOnly()) name.disabled = true;
  name.addEventListener('change', () => {
    name.defaultValue = name.value;
  });
  const keep = () => request('variant', {do: 'keep', name: name.value.trim() || `variant ${variants.length + 1}`});
  name.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') keep();
  });
  return html('section', {id: 'variants'}, html('h2', {}, 'Variants'),
    html('p', {class: 'keep-line'}, name, button('Keep this one', keep, {id: 'keep'})),
    variants.length ? variantTable(variants) : html('p', {class: 'note'},
      'Keep a version under a name to compare it with others.'));
}

function variantTable(variants) {
  const start = {name: 'start', chains: summary(plan.state.start), fixed: true, current: false};
  const now = {name: 'now', chains: summary(plan.state.answer), fixed: true, current: true};
  const all = [start, ...variants, now];
  const cell = (chain) => (variant) => {
    const found = variant.chains[chain.id];
    return html('td', {class: variant.current ? 'current' : null},
      found ? [exact(found.bound_ms), ' ', verdictSign(found.verdict)] : '–');
  };
  return html('div', {class: 'scroller'}, html('table', {class: 'variants'},
    html('thead', {}, html('tr', {}, html('th', {class: 'name'}, ''), all.map(variantHead))),
    html('tbody', {}, model().chains.map((chain) => html('tr', {},
      html('th', {scope: 'row', class: 'name'}, swatch(allChains().find((one) => one.id === chain.id).colour),
        ` ${chain.id}`), all.map(cell(chain)))))));
}

function variantHead(variant) {
  if (variant.fixed) return html('th', {scope: 'col'}, variant.name);
  return html('th', {scope: 'col'},
    button(variant.name, () => request('variant', {do: 'open', name: variant.name}),
      {class: 'plain', title: 'Open it'}),
    button('×', () => request('variant', {do: 'remove', name: variant.name}),
      {class: 'plain', 'aria-label': `Remove ${variant.name}`}));
}

function verdictSign(verdict) {
  const [mark, text] = VERDICTS[verdict] || ['?', verdict];
  return html('span', {class: `verdict ${verdict}`, title: text, role: 'img', 'aria-label': text}, mark);
}

function summary(from) {
  return Object.fromEntries(from.analysis.chains.map((chain) => [chain.id, chain]));
}
