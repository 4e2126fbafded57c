// SPDX-License-Identifier: Apache-2.0
// Places cards and edges by dagre. A layout stays until cards, edges or containers change.

const LABELLED = 60;
const LABEL_WIDTH = 110;
const CARD = {height: 62, least: 118, most: 210, measured: 280, head: 30};

let laidOut = {key: null, layout: null};

function layoutOf(graph) {
  const key = JSON.stringify([graph.cards.map((card) => [card.key, card.executor, card.callbacks.length]),
    graph.edges.map((edge) => edge.key), graph.executors.map((executor) => executor.name)]);
  if (key !== laidOut.key) laidOut = {key, layout: bestLayout(graph)};
  return laidOut.layout;
}

/** From left to right, or from top to bottom if that makes the cards of a long graph larger. */
function bestLayout(graph) {
  const place = document.getElementById('graph');
  const scale = (layout) => Math.min(1, place.clientWidth / layout.width, place.clientHeight / layout.height);
  const level = computeLayout(graph, false);
  if (scale(level) > 0.6 || graph.cards.length > MOST_CARDS) return level;
  const upright = computeLayout(graph, true);
  return scale(upright) > 1.15 * scale(level) ? upright : level;
}

function computeLayout(graph, upright) {
  const net = new dagre.graphlib.Graph({compound: true, multigraph: false});
  const large = graph.cards.length > 60;
  net.setGraph({rankdir: upright ? 'TB' : 'LR', nodesep: large ? 14 : 22, ranksep: large ? 40 : 26, edgesep: 10,
    marginx: 16, marginy: 16, ranker: graph.cards.length > 200 ? 'longest-path' : 'network-simplex'});
  net.setDefaultEdgeLabel(() => ({}));
  const used = new Set(graph.cards.map((card) => card.executor));
  for (const executor of graph.executors) {
    if (used.has(executor.index)) net.setNode(`e:${executor.index}`, {});
  }
  for (const card of graph.cards) {
    net.setNode(card.key, {width: cardWidth(card), height: CARD.height});
    if (net.hasNode(`e:${card.executor}`)) net.setParent(card.key, `e:${card.executor}`);
  }
  const few = graph.edges.length <= LABELLED;
  for (const edge of graph.edges) {
    const wide = few ? Math.min(LABEL_WIDTH, textWidth([...edge.topics][0], 10)) : 0;
    net.setEdge(edge.from, edge.to, {width: wide, height: few ? 12 : 0, labelpos: 'c'});
  }
  dagre.layout(net);
  const cards = new Map(graph.cards.map((card) => [card.key, net.node(card.key)]));
  const layout = withBoxes(graph, cards, net.graph());
  // Behind withBoxes(), which may move cards.
  layout.edges = new Map(graph.edges.map((edge) => [edge.key, pathOf(net, edge, upright)]));
  layout.upright = upright;
  return layout;
}

/** The points of an edge, from the end of its first card to the begin of its last one, and the place
 * of its label. */
function pathOf(net, edge, upright) {
  const [from, to, found] = [net.node(edge.from), net.node(edge.to), net.edge(edge.from, edge.to)];
  const begin = upright ? {x: from.x, y: from.y + from.height / 2} : {x: from.x + from.width / 2, y: from.y};
  const end = upright ? {x: to.x, y: to.y - to.height / 2} : {x: to.x - to.width / 2, y: to.y};
  const axis = upright ? 'y' : 'x';
  if (begin[axis] >= end[axis]) return {points: found.points, label: {x: found.x, y: found.y}};
  const between = found.points.slice(1, -1)
    .filter((point) => point[axis] > begin[axis] && point[axis] < end[axis]);
  return {points: [begin, ...between, end], label: {x: found.x, y: found.y}};
}

/** Adds the boxes of the containers; executors without callbacks get theirs below. */
function withBoxes(graph, cards, size) {
  const boxes = new Map();
  let bottom = size.height || 0;
  let right = size.width || 0;
  for (const executor of graph.executors) {
    const own = graph.cards.filter((card) => card.executor === executor.index)
      .map((card) => cards.get(card.key));
    if (!own.length) continue;
    const left = Math.min(...own.map((at) => at.x - at.width / 2)) - 16;
    const top = Math.min(...own.map((at) => at.y - at.height / 2)) - 14 - CARD.head;
    const box = {x: left, y: top,
      width: Math.max(...own.map((at) => at.x + at.width / 2)) + 16 - left,
      height: Math.max(...own.map((at) => at.y + at.height / 2)) + 14 - top};
    const wanted = textWidth(executor.name, 13, true) + textWidth(executorFacts(executor), 12) + 46;
    if (box.width < wanted) {
      box.x -= (wanted - box.width) / 2;
      box.width = wanted;
    }
    boxes.set(executor.index, box);
    bottom = Math.max(bottom, box.y + box.height);
    right = Math.max(right, box.x + box.width);
  }
  bottom = Math.max(bottom, separate(graph, cards, boxes));
  let left = 16;
  for (const executor of graph.executors) {
    if (boxes.has(executor.index)) continue;
    boxes.set(executor.index, {x: left, y: bottom + 24, width: 240, height: 74, empty: true});
    left += 264;
    right = Math.max(right, left);
  }
  if (left > 16) bottom += 24 + 74;
  const top = Math.min(0, ...[...boxes.values()].map((box) => box.y - 8));
  const begin = Math.min(0, ...[...boxes.values()].map((box) => box.x - 8));
  return {cards, boxes, x: begin, y: top, width: right + 12 - begin, height: bottom + 12 - top};
}

/** Moves containers down until none lies on another one: their heads need room that dagre does not
 * know of. Returns the lowest edge. */
function separate(graph, cards, boxes) {
  const done = [];
  for (const [index, box] of [...boxes].sort((a, b) => a[1].y - b[1].y)) {
    const moved = box.y;
    for (let hit = true; hit;) {
      const other = done.find((each) => box.x < each.x + each.width + 12 && each.x < box.x + box.width + 12 &&
        box.y < each.y + each.height + 12 && each.y < box.y + box.height + 12);
      hit = Boolean(other);
      if (other) box.y = other.y + other.height + 12;
    }
    done.push(box);
    if (box.y === moved) continue;
    for (const card of graph.cards) {
      if (card.executor === index) cards.get(card.key).y += box.y - moved;
    }
  }
  return Math.max(0, ...done.map((box) => box.y + box.height));
}

function executorFacts(executor) {
  const cpus = executor.cpus.length ? `CPU ${executor.cpus.join(', ')}` : 'any CPU';
  return `${cpus} · ${percent(executorShare(executor))}`;
}

function cardTitle(card) {
  return card.group === null ? model().callbacks[card.callbacks[0]].id : card.group;
}

function cardFacts(card) {
  if (card.group !== null) {
    return card.callbacks.length === 1 ? '1 callback' : `${card.callbacks.length} callbacks`;
  }
  const callback = model().callbacks[card.callbacks[0]];
  return [nodeName(model().nodes[callback.node]), releases(callback)].filter((text) => text).join(' · ');
}

function cardWidth(card) {
  const wanted = Math.max(textWidth(cardTitle(card), 13, true) + 52, textWidth(cardFacts(card), 11) + 26);
  if (card.group === null) {
    const callback = model().callbacks[card.callbacks[0]];
    if (isLive()) return CARD.measured;  // robots may appear at any time
    if (observedText(callback)) return CARD.most;
  }
  return Math.round(Math.max(CARD.least, Math.min(CARD.most, wanted)));
}
