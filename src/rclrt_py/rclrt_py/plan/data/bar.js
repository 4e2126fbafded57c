// SPDX-License-Identifier: Apache-2.0
// The bound of a chain as a stacked bar: what it consists of, against the deadline.

const PART_TEXT = {
  own: (part) => `its own work: ${times(part)} ${part.callback}`,
  interference: (part) => `preempted by ${part.callback}${part.releases > 1 ? `, ${part.releases} ×` : ''}`,
  sets: (part) => `${part.releases === 1 ? 'a set' : `${part.releases} sets`} of ${part.callback}, and what follows`,
  started: (part) => `${part.callback} had started, and what follows`,
  other_input: (part) => `waits for the other input of ${part.callback}`,
  callback: (part) => `${part.callback}, from ready to its end`,
  hop: (part) => `the message to ${part.callback}`,
  segment: (part) => `${part.releases} callbacks up to ${part.callback}`,
  waits: (part) => `${part.callback} waits`,
  ready_sets: (part) => `${part.releases} ready sets until ${part.callback} ends`,
  late: (part) => `${part.callback} is released late`,
  background: (part) => `in the background, ${part.releases} ms`,
  stall: () => 'the CPU stood still',
  rest: (part) => `${part.terms} shorter terms`,
};
const times = (part) => (part.releases > 1 ? `${part.releases} × ` : '');
const partText = (part) => (PART_TEXT[part.kind] || ((one) => `${one.kind} ${one.callback}`))(part);

/** The chain that colours a part: its own one, or the first of the callback that causes it. */
function partColour(part, chain) {
  if (['own', 'callback', 'segment', 'waits'].includes(part.kind)) return chain.colour;
  const index = model().callbacks.findIndex((callback) => callback.id === part.callback);
  const other = allChains().find((each) => !each.samples && each.callbacks.includes(index));
  return other ? other.colour : null;
}

/** The terms of a bound in one form, for both kinds of chains. */
function partsOf_(chain) {
  if (!chain.samples) return chain.bound.why.map((part) => ({...part, ms: part.total_ms}));
  return chain.bound.why.map((term) => ({kind: term.kind, callback: term.callback, releases: 1,
    ms: term.age_ms, text: `${{source: 'until the source', response: 'response of', sampling: 'sampling by',
      logical: 'logical time of'}[term.kind] || term.kind} ${term.callback}`}));
}

function drawWhy(chain) {
  const parts = partsOf_(chain).filter((part) => part.ms > 0);
  if (!parts.length) return null;
  const bound = chain.samples ? chain.bound.age_ms : chain.bound.bound_ms;
  const limit = chain.samples ? chain.max_age_ms : chain.deadline_ms;
  const sum = parts.reduce((total, part) => total + part.ms, 0);
  const most = Math.max(sum, limit === null ? 0 : limit, bound || 0);
  const list = html('ol', {class: 'parts'}, parts.map((part) => html('li', {},
    html('span', {class: `swatch ${chainClass(partColour(part, chain))} ${partClass(part)}`}),
    html('button', {type: 'button', class: 'plain', 'data-always': '1', 'data-part': part.text || partText(part)},
      part.text || partText(part)),
    html('span', {class: 'ms'}, nominal(part.ms)))));
  [...list.children].forEach((item, index) => item.querySelector('button')
    .addEventListener('click', () => select('callback', parts[index].callback)));
  const waited = chain.bound.waited_ms || 0;
  return html('div', {class: 'why'},
    responsive(html('div', {class: 'why-bar'}), (width) => whyBar(chain, parts, {most, limit, waited}, width)),
    list,
    waited ? html('p', {class: 'note'},
      `The work begins up to ${nominal(waited)} before the release, so that much is subtracted.`) : null);
}

const partClass = (part) => (['own', 'callback', 'segment', 'response'].includes(part.kind) ? 'mine' : 'others');

function whyBar(chain, parts, {most, limit, waited}, width) {
  const x = (ms) => 1 + (width - 2) * ms / most;
  const drawing = svg('svg', {width, height: 46, role: 'img',
    'aria-label': `What the bound of ${chain.id} consists of`});
  let from = 0;
  for (const part of parts) {
    const wide = Math.max(1, x(from + part.ms) - x(from) - 1);
    const piece = svg('g', {class: `part ${chainClass(partColour(part, chain))} ${partClass(part)}`},
      svg('rect', {x: x(from), y: 16, width: wide, height: 22, rx: 2}));
    if (wide > textWidth(part.callback, 11) + 8) {
      piece.append(label(part.callback, x(from) + wide / 2, 31, 11,
        {'text-anchor': 'middle', class: 'on'}));
    }
    drawing.append(hover(piece, () => [part.text || partText(part), nominal(part.ms)]));
    from += part.ms;
  }
  if (waited) {
    drawing.append(svg('rect', {class: 'waited', x: x(0), y: 40, width: x(waited) - x(0), height: 3}));
  }
  if (limit !== null) {
    const at = Math.min(x(limit + waited), width - 1);
    const right = at > width / 2;
    drawing.append(svg('line', {class: 'deadline', x1: at, x2: at, y1: 4, y2: 44}),
      label(chain.samples ? `max. age ${nominal(limit)}` : `deadline ${nominal(limit)}`,
        right ? at - 5 : at + 5, 11, 11, {class: 'deadline-label', 'text-anchor': right ? 'end' : 'start'}));
  }
  return drawing;
}
