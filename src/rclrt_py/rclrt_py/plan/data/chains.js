// SPDX-License-Identifier: Apache-2.0
// The table of chains: bound, deadline, slack and verdict, with the difference to the start.

const VERDICTS = {
  proved: ['✓', 'proved'], conditional: ['◐', 'conditional'], refuted: ['✗', 'refuted'],
  unknown: ['?', 'not proved'],
};

function verdictMark(verdict) {
  const [mark, text] = VERDICTS[verdict] || ['?', verdict];
  return html('span', {class: `verdict ${verdict}`}, html('span', {class: 'sign', 'aria-hidden': 'true'}, mark),
    text);
}

const MANY_CHAINS = 14;

/** How much a chain needs attention: first those that do not hold, then those with little slack. */
function urgency(chain) {
  const holds = ['proved', 'conditional'].includes(verdictOf(chain));
  const share = chain.samples || chain.deadline_ms === null ? 0 : (chain.bound.bound_ms || 0) / chain.deadline_ms;
  return (holds ? 0 : 1000) + share;
}

function drawChains() {
  const many = allChains().length > MANY_CHAINS;
  const chains = [...allChains()];
  if (many) chains.sort((a, b) => urgency(b) - urgency(a));
  const before = new Map(allChains(plan.state.start).map((chain) => [chain.id, chain]));
  const measured = Boolean(plan.state.observed);
  const heads = ['Chain', 'Bound', 'Deadline', 'Slack', 'Verdict'];
  const rows = chains.flatMap((chain) => chainRows(chain, before.get(chain.id), heads.length));
  return html('section', {id: 'chains'},
    html('h2', {}, 'Chains'),
    answer().no_bounds ? html('p', {class: 'note'},
      `No bounds under this executor: ${answer().no_bounds}. Find a miss and Simulate work.`) : null,
    html('div', {id: 'chains-table', class: many ? 'many' : null, tabindex: many ? 0 : null}, html('table', {class: 'chains'},
      html('thead', {}, html('tr', {}, heads.map((head, index) =>
        html('th', {scope: 'col', class: index ? null : 'name'}, head,
          index && index < 4 ? html('span', {class: 'unit'}, 'ms') : null)))),
      html('tbody', {}, rows))),
    measured && !plan.state.observed.live ? observedNote() : null);
}

function chainRows(chain, before, columns) {
  const chosen = isSelected('chain', chain.id);
  const name = html('th', {scope: 'row', class: 'name'},
    html('button', {type: 'button', class: 'plain chain-name', 'aria-expanded': String(chosen),
      'data-chain': chain.id}, swatch(chain.colour), chain.id));
  name.querySelector('button').addEventListener('click', () =>
    (chosen ? select(null) : select('chain', chain.id)));
  const row = html('tr', {class: `chain ${verdictOf(chain)}${chosen ? ' chosen' : ''}`}, name,
    chain.samples ? sampledCells(chain, before) : chainCells(chain, before),
    html('td', {}, verdictMark(verdictOf(chain)), changedVerdict(chain, before)));
  if (!chosen) return [row];
  return [row, html('tr', {class: 'detail'}, html('td', {colspan: columns}, chainDetail(chain)))];
}

function chainCells(chain, before) {
  const {bound_ms: bound} = chain.bound;
  const slack = bound === null || chain.deadline_ms === null ? null : chain.deadline_ms - bound;
  return [
    html('td', {class: 'bound'}, exact(bound), delta(bound, before && before.bound.bound_ms), seenWorst(chain, bound)),
    html('td', {}, chain.deadline_ms === null ? '–' : figure(chain.deadline_ms),
      delta(chain.deadline_ms, before && before.deadline_ms)),
    html('td', {class: slack !== null && slack < 0 ? 'late-text' : null}, exact(slack))];
}

function sampledCells(chain, before) {
  const pair = (name, limit, was) => html('div', {}, html('span', {class: 'unit-in'}, `${name} `),
    exact(chain.bound[`${limit}_ms`]), delta(chain.bound[`${limit}_ms`], was));
  const limits = (value) => html('div', {}, value === null ? '–' : figure(value));
  const spare = (value, limit) => html('div', {class: value !== null && limit !== null && value > limit ? 'late-text' : null},
    value === null || limit === null ? '–' : exact(limit - value));
  return [
    html('td', {class: 'bound'}, pair('reaction', 'reaction', before && before.bound.reaction_ms),
      pair('age', 'age', before && before.bound.age_ms), seenWorst(chain, chain.bound.age_ms)),
    html('td', {}, limits(chain.max_reaction_ms), limits(chain.max_age_ms)),
    html('td', {}, spare(chain.bound.reaction_ms, chain.max_reaction_ms),
      spare(chain.bound.age_ms, chain.max_age_ms))];
}

function exact(value) {
  return value === null || value === undefined ? '–' : value.toFixed(3);
}

const figure = (value) => significant(value, 9);

/** The difference of a time to the start, or nothing. */
function delta(now, before) {
  if (before === undefined || now === before) return null;
  if (now === null || before === null) {
    return html('span', {class: 'delta'}, before === null ? 'was –' : `was ${exact(before)}`);
  }
  const better = now < before;
  return html('span', {class: `delta ${better ? 'better' : 'worse'}`},
    `${better ? '▼' : '▲'} ${exact(Math.abs(now - before))}`);
}

function changedVerdict(chain, before) {
  if (!before || before.bound.verdict === verdictOf(chain)) return null;
  return html('span', {class: 'delta'}, `was ${VERDICTS[before.bound.verdict][1]}`);
}

/** The row below that of the selected chain. */
function chainDetail(chain) {
  const facts = [];
  if (!chain.samples && chain.bound.reaction_ms !== null && chain.bound.reaction_ms !== undefined) {
    facts.push(`reaction time at most ${exact(chain.bound.reaction_ms)} ms, ` +
      `data age at most ${exact(chain.bound.data_age_ms)} ms`);
  }
  const conditions = chain.bound.assumptions || [];
  return html('div', {class: 'chain-detail'},
    drawWhy(chain),
    facts.map((fact) => html('p', {class: 'note'}, fact)),
    chain.bound.note ? html('p', {class: 'note'}, chain.bound.note) : null,
    chain.bound.verdict === 'conditional' && conditions.length
      ? html('p', {class: 'note'}, `holds only if ${conditions.join('; ')}`) : null,
    observedChain(chain), observedSteps(chain));
}
