// SPDX-License-Identifier: Apache-2.0
// Draws the graph: containers, edges, cards. It stays in one place while values change.

const view = {scale: null, x: 0, y: 0, layout: null};

function drawGraph() {
  const place = document.getElementById('graph');
  const graph = graphModel();
  const layout = layoutOf(graph);
  if (!place.querySelector('svg.graph')) place.replaceChildren(...graphFrame(place));
  drawTools(place.querySelector('.graph-tools'));
  document.body.classList.toggle('many-chains', allChains().length > COLOURS);
  const drawing = place.querySelector('svg.graph');
  const content = drawing.querySelector('.content');
  const focused = document.activeElement && document.activeElement.getAttribute('data-key');
  content.replaceChildren(
    ...graph.executors.map((executor) => drawExecutor(executor, layout)),
    ...graph.edges.map((edge) => drawEdge(edge, layout)),
    ...graph.cards.map((card) => drawCard(card, layout)));
  if (focused) {
    const same = content.querySelector(`[data-key="${CSS.escape(focused)}"]`);
    if (same) same.focus({preventScroll: true});
  }
  if (view.layout !== layout) {
    view.layout = layout;
    fitView();
  }
}

function graphFrame(place) {
  const drawing = svg('svg', {class: 'graph', role: 'group', 'aria-label': 'Graph'},
    svg('g', {class: 'content'}));
  movable(drawing);
  new ResizeObserver(() => fitView()).observe(place);
  return [html('div', {class: 'graph-tools'}), drawing];
}

function drawTools(tools) {
  if (!tools.firstChild) {
    const search = html('input', {type: 'search', id: 'search', placeholder: 'Search  ( / )',
      'aria-label': 'Search callbacks, nodes, topics, variables and chains', autocomplete: 'off'});
    search.addEventListener('input', () => {
      plan.search = search.value.trim().toLowerCase();
      drawGraph();
    });
    const group = html('select', {id: 'grouping', 'aria-label': 'Cards'},
      [['callbacks', 'callbacks'], ['nodes', 'nodes'], ['namespaces', 'namespaces']]
        .map(([value, text]) => html('option', {value}, text)));
    group.addEventListener('change', () => {
      plan.grouping = group.value;
      plan.expanded.clear();
      drawGraph();
    });
    const always = {'data-always': '1'};
    tools.append(search, html('label', {}, 'Cards: ', group),
      button('−', () => zoomView(1 / 1.25), {...always, title: 'Smaller ( - )', 'aria-label': 'Smaller'}),
      button('+', () => zoomView(1.25), {...always, title: 'Larger ( + )', 'aria-label': 'Larger'}),
      button('Fit', () => fitView(), {...always, title: 'Show all ( 0 )'}),
      html('label', {id: 'isolate-label'}, html('input', {type: 'checkbox', id: 'isolate'}),
        ' only the selected chain'));
    tools.querySelector('#isolate').addEventListener('change', (event) => {
      plan.isolate = event.target.checked;
      drawGraph();
    });
  }
  tools.querySelector('#grouping').value = grouping();
  const isolate = tools.querySelector('#isolate');
  isolate.checked = plan.isolate;
  isolate.disabled = !selectedChain();
}

/** Whether the selection or the search leaves a card in the background. */
function isDim(card) {
  if (plan.search) {
    const found = (text) => text.toLowerCase().includes(plan.search);
    const chains = allChains().filter((chain) => card.chains.has(chain.colour));
    return !chains.some((chain) => found(chain.id)) && !card.callbacks.some((index) => {
      const callback = model().callbacks[index];
      return [callback.id, nodeName(model().nodes[callback.node]), ...callback.inputs, ...callback.publishes,
        ...callback.stores, ...callback.reads, ...callback.samples].some(found);
    });
  }
  const chain = selectedChain();
  return Boolean(chain) && !card.chains.has(chain.colour) && !isCause(card);
}

/** Whether a callback of the card is in the bound of the selected chain, and not on the chain; or
 * delayed measured instances of what is selected. */
function isCause(card) {
  const chain = selectedChain();
  if (plan.search || (chain && card.chains.has(chain.colour))) return false;
  const causes = new Set(measuredCauses());
  if (chain) chain.bound.why.forEach((part) => causes.add(part.callback));
  return card.callbacks.some((index) => causes.has(model().callbacks[index].id));
}

function drawExecutor(executor, layout) {
  const box = layout.boxes.get(executor.index);
  const facts = executorFacts(executor);
  const group = svg('g', {class: `executor${isSelected('executor', executor.name) ? ' selected' : ''}`,
    'data-executor': executor.name, 'data-key': `e:${executor.name}`, tabindex: 0, role: 'button',
    'aria-label': `Executor ${executor.name}, ${facts}`},
  svg('rect', {x: box.x, y: box.y, width: box.width, height: box.height, rx: 12}),
  label(fit(executor.name, box.width - textWidth(facts, 12) - 40, 13, true), box.x + 14, box.y + 21, 13, {class: 'strong'}),
  label(facts, box.x + box.width - 14, box.y + 21, 12,
    {class: executor.cpus.length && executorShare(executor) > 1 ? 'late-text' : 'muted', 'text-anchor': 'end'}));
  if (box.empty) {
    group.append(label('no callback: drop one here', box.x + 14, box.y + 48, 12, {class: 'muted'}));
  }
  return activated(group, () => select('executor', executor.name));
}

/** The share of its CPUs' time that an executor's callbacks need. */
function executorShare(executor) {
  const load = answer().load.find((each) => each.executors.includes(executor.name));
  return load ? load.levels.reduce((sum, level) => sum + level.share, 0) : 0;
}

function drawEdge(edge, layout) {
  const {points, label: place} = layout.edges.get(edge.key);
  const chain = selectedChain();
  const strands = [...edge.chains].sort((a, b) => a - b);
  const dim = plan.search || (chain && !edge.chains.has(chain.colour));
  const group = svg('g', {class: `edge ${edge.kind}${dim ? ' dim' : ''}`, 'data-edge': edge.key});
  (strands.length ? strands : [null]).forEach((colour, index, all) => {
    const aside = (index - (all.length - 1) / 2) * 4;
    const {upright} = layout;
    const shifted = points.map(({x, y}) => (upright ? [x + aside, y] : [x, y + aside]));
    const end = shifted[shifted.length - 1];
    shifted[shifted.length - 1] = upright ? [end[0], end[1] - 6] : [end[0] - 6, end[1]];
    group.append(svg('path', {class: `strand ${chainClass(colour)}`, d: through(shifted, upright)}),
      svg('path', {class: `arrow ${chainClass(colour)}`,
        d: `M${end[0]},${end[1]}${upright ? 'l-4,-8h8z' : 'l-8,-4v8z'}`}));
  });
  const names = [...edge.topics];
  if (layout.edges.size <= LABELLED && place.x !== undefined) {
    group.append(label(fit(names[0], LABEL_WIDTH, 10), place.x, place.y - 4 - 2 * strands.length, 10,
      {class: 'topic-name', 'text-anchor': 'middle'}));
  }
  return hover(group, () => [names.length === 1 ? names[0] : `${names.length} topics`,
    ...(names.length > 1 ? names.slice(0, 12) : []),
    {topic: 'topic', variable: 'variable', sampled: 'newest message of a topic'}[edge.kind],
    ...chainsText(edge.chains)]);
}

const MOST_NAMED = 8;

/** The names of chains by their colours, as lines of a tooltip. */
function chainsText(colours) {
  const names = allChains().filter((chain) => colours.has(chain.colour)).map((chain) => chain.id);
  if (!names.length) return [];
  const more = names.length - MOST_NAMED;
  return [`${names.length === 1 ? 'chain' : 'chains'}: ${names.slice(0, MOST_NAMED).join(', ')}` +
    `${more > 0 ? `, and ${more} more` : ''}`];
}

/** A smooth line through points that leaves and enters its ends in the direction of the graph. */
function through(points, upright) {
  let path = `M${points[0][0]},${points[0][1]}`;
  for (let index = 1; index < points.length; ++index) {
    const [[x0, y0], [x1, y1]] = [points[index - 1], points[index]];
    const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
    path += upright ? `C${x0},${y} ${x1},${y} ${x1},${y1}` : `C${x},${y0} ${x},${y1} ${x1},${y1}`;
  }
  return path;
}

function drawCard(card, layout) {
  const at = layout.cards.get(card.key);
  const [left, top] = [at.x - at.width / 2, at.y - at.height / 2];
  const single = card.group === null ? model().callbacks[card.callbacks[0]] : null;
  const changed = card.callbacks.some((index) => differences(model().callbacks[index]).length);
  const chosen = single ? isSelected('callback', single.id) : isSelected('group', card.key);
  const name = cardTitle(card);
  const group = svg('g', {
    class: `card${single ? ` ${single.kind}` : ' group'}${isDim(card) ? ' dim' : ''}` +
      `${isCause(card) ? ' cause' : ''}${changed ? ' changed' : ''}${chosen ? ' selected' : ''}` +
      card.callbacks.map((index) => observedClass(model().callbacks[index])).join(''),
    'data-key': card.key, 'data-callback': single ? single.id : null, 'data-group': card.group, tabindex: 0, role: 'button',
    'aria-label': single ? `Callback ${name}, priority ${single.level}` : `${name}, ${cardFacts(card)}`,
    'aria-pressed': String(chosen),
  },
  svg('rect', {class: 'back', x: left, y: top, width: at.width, height: at.height, rx: 8}),
  drawStripes(card, left, top, at.height),
  label(fit(name, at.width - 50, 13, true), left + 14, top + 20, 13, {class: 'strong'}),
  label(fit(cardFacts(card), at.width - 22, 11), left + 14, top + 37, 11, {class: 'muted'}));
  if (single) {
    const late = observedClass(single).includes('missed');
    group.append(
      svg('rect', {class: 'level', x: left + at.width - 34, y: top + 8, width: 26, height: 16, rx: 8}),
      label(fit(String(single.level), 24, 11), left + at.width - 21, top + 20, 11,
        {class: 'level-text', 'text-anchor': 'middle'}),
      label(fit(`C ${nominal(single.wcet_ms)}${observedText(single)}`, at.width - 20, 11, late), left + 14, top + 53, 11,
        {class: late ? 'late-text' : 'muted'}));
  } else {
    group.append(label('open', left + at.width - 12, top + 53, 11, {class: 'muted', 'text-anchor': 'end'}));
  }
  if (changed) group.append(svg('circle', {class: 'mark-changed', cx: left + at.width, cy: top, r: 5}));
  hover(group, () => cardLines(card, single));
  draggable(group, card);
  return activated(group, () => {
    if (single) select('callback', single.id);
    else openGroup(card);
  });
}

function cardLines(card, single) {
  if (!single) return [card.group, cardFacts(card), ...chainsText(card.chains), 'press to open it, drag or E to move it'];
  const chains = chainsText(card.chains);
  return [single.id, `${single.kind} of node ${nodeName(model().nodes[single.node])}`,
    `priority ${single.level}${single.priority === null ? ', of its chains' : ''}`,
    `worst-case execution time ${nominal(single.wcet_ms)}`,
    single.waits_ms ? `waits for up to ${nominal(single.waits_ms)}` : '',
    single.group ? `group ${single.group}` : '',
    ...(chains.length ? chains : ['on no chain']),
    ...observedLines(single), ...differenceLines(single)].filter((line) => line);
}

/** A stripe on the left edge, in the colours of the chains. */
function drawStripes(card, left, top, height) {
  const colours = [...card.chains].sort((a, b) => a - b).slice(0, 6);
  if (!colours.length) colours.push(null);
  const each = (height - 12) / colours.length;
  return colours.map((colour, index) => svg('line', {class: `stripe ${chainClass(colour)}`,
    x1: left + 6, x2: left + 6, y1: top + 6 + index * each, y2: top + 6 + (index + 1) * each}));
}

/** Makes an element answer a click, Enter and Space. */
function activated(element, does) {
  element.addEventListener('click', (event) => {
    event.stopPropagation();
    does();
  });
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    does();
  });
  return element;
}

function fitView() {
  const place = document.getElementById('graph');
  const layout = view.layout;
  if (!layout || !place.clientWidth) return;
  const [width, height] = [place.clientWidth, graphHeight(place)];
  view.scale = Math.max(0.12, Math.min(1.15, width / layout.width, height / layout.height));
  view.x = (width - layout.width * view.scale) / 2 - layout.x * view.scale;
  view.y = Math.max(0, (height - layout.height * view.scale) / 3) - layout.y * view.scale;
  applyView();
}

const graphHeight = (place) => place.clientHeight - place.querySelector('.graph-tools').offsetHeight;

function zoomView(factor, x, y) {
  const place = document.getElementById('graph');
  const at = x === undefined ? [place.clientWidth / 2, graphHeight(place) / 2] : [x, y];
  const scale = Math.max(0.08, Math.min(3, view.scale * factor));
  view.x = at[0] - (at[0] - view.x) * scale / view.scale;
  view.y = at[1] - (at[1] - view.y) * scale / view.scale;
  view.scale = scale;
  applyView();
}

function applyView() {
  document.querySelector('svg.graph .content')
    .setAttribute('transform', `translate(${view.x},${view.y}) scale(${view.scale})`);
}

/** Lets the pointer move and the wheel scale the drawing. */
function movable(drawing) {
  let from = null;
  drawing.addEventListener('pointerdown', (event) => {
    if (event.target.closest('.card')) return;
    from = {x: event.clientX - view.x, y: event.clientY - view.y, moved: false};
  });
  drawing.addEventListener('pointermove', (event) => {
    if (!from) return;
    const [x, y] = [event.clientX - from.x, event.clientY - from.y];
    if (Math.abs(x - view.x) + Math.abs(y - view.y) > 3) from.moved = true;
    if (!from.moved) return;
    [view.x, view.y] = [x, y];
    applyView();
  });
  addEventListener('pointerup', () => {
    from = null;
  });
  drawing.addEventListener('click', (event) => {
    if (event.target === drawing) select(null);
  });
  drawing.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = drawing.getBoundingClientRect();
    zoomView(Math.exp(-event.deltaY / 500), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
}
