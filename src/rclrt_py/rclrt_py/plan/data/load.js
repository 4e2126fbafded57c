// SPDX-License-Identifier: Apache-2.0
// The headline, the utilisation of the CPUs by level, and the warnings.

/** How many chains have a proved deadline: [proved, conditional, with a deadline or limit]. */
function verdictCounts(from = plan.state.answer) {
  const chains = allChains(from).filter((chain) => (chain.samples
    ? chain.max_reaction_ms !== null || chain.max_age_ms !== null : chain.deadline_ms !== null));
  const count = (verdict) => chains.filter((chain) => verdictOf(chain, from) === verdict).length;
  return {all: chains.length, proved: count('proved'), conditional: count('conditional'),
    refuted: count('refuted')};
}

function headlineText({all, proved, conditional}) {
  if (!all) return 'no chain has a deadline';
  const holds = proved + conditional;
  const how = !holds ? '' : !conditional ? ', proved' : !proved ? ', under conditions'
    : `, ${conditional} under conditions`;
  if (holds === all) return `${all === 1 ? 'the deadline holds' : `all ${all} deadlines hold`}${how}`;
  return `${holds} of ${all} deadlines hold${how}`;
}

function drawHeadline() {
  const now = verdictCounts();
  const before = verdictCounts(plan.state.start);
  const [held, held_before] = [now.proved + now.conditional, before.proved + before.conditional];
  const good = held === now.all;
  return html('div', {id: 'headline', class: good ? 'good' : 'open'},
    html('span', {class: 'sign', 'aria-hidden': 'true'}, good ? '✓' : '!'),
    html('strong', {}, headlineText(now)),
    held !== held_before ? html('span', {class: 'note'}, `at the start ${held_before} of ${before.all}`) : null);
}

function drawLoad() {
  const before = new Map(plan.state.start.load.map((load) => [load.cpus.join(), total(load)]));
  return html('section', {id: 'load'},
    html('h2', {}, 'Utilisation'),
    answer().load.map((load) => {
      const [sum, was] = [total(load), before.get(load.cpus.join())];
      const differs = was !== undefined && Math.abs(was - sum) > 1e-9;
      return html('div', {class: 'load'},
        html('div', {class: 'load-name'}, load.cpus.length ? `CPU ${load.cpus.join(', ')}` : 'any CPU',
          html('span', {class: 'note'}, ` ${load.executors.join(', ')}`)),
        responsive(html('div', {class: 'load-bar'}), (width) => loadBar(load, width)),
        html('div', {class: sum > 1 && load.cpus.length ? 'load-sum late-text' : 'load-sum'}, percent(sum),
          differs ? html('span', {class: `delta ${sum < was ? 'better' : 'worse'}`},
            `was ${percent(was)}`) : null));
    }));
}

const total = (load) => load.levels.reduce((sum, level) => sum + level.share, 0);

/** A bar with a part for each level, the most urgent one first. */
function loadBar(load, width) {
  const most = Math.max(1, total(load));
  const drawing = svg('svg', {width, height: 20, role: 'img',
    'aria-label': load.levels.map((level) => `level ${level.level}: ${percent(level.share)}`).join(', ')});
  drawing.append(svg('rect', {class: 'load-back', x: 0, y: 1, width: width / most, height: 18, rx: 3}));
  let from = 0;
  load.levels.forEach((level, index) => {
    const wide = Math.max(0.5, level.share / most * width);
    const piece = svg('g', {class: `load-level shade${index % 4}`},
      svg('rect', {x: from, y: 1, width: wide, height: 18}));
    if (wide > textWidth(String(level.level), 11) + 8) {
      piece.append(label(String(level.level), from + wide / 2, 14, 11, {'text-anchor': 'middle', class: 'load-text'}));
    }
    drawing.append(hover(piece, () => [`priority ${level.level}`, percent(level.share)]));
    from += wide;
  });
  return drawing;
}

function drawWarnings() {
  const {warnings} = answer();
  if (!warnings.length) return null;
  return html('section', {id: 'warnings'},
    html('h2', {}, `Warnings (${warnings.length})`),
    html('ul', {}, warnings.slice(0, 12).map((text) => html('li', {}, text)),
      warnings.length > 12 ? html('li', {}, `and ${warnings.length - 12} more`) : null));
}
