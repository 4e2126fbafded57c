// SPDX-License-Identifier: Apache-2.0
// The application graph, left to right: callbacks (timers with a bold border, events with a
// bold dashed one, syncs as diamonds),
// topics on the edges between them, every chain in its colour.

const GRAPH = {row: 78, gap: 34, margin: 14, box: 50, topic: 22};

function drawGraph(data) {
  const graph = data.graph;
  const kinds = new Set(Object.values(graph.vertices).map((vertex) => vertex.kind));
  return html('section', {id: 'graph'},
    html('h2', {}, 'Application'),
    html('p', {class: 'note'},
      graph.complete ? '' : 'Topics are not known for this run; edges are those of the chains. ',
      key('timer-key', 'timer', kinds.has('timer')),
      key('callback-key event', 'event', kinds.has('event')),
      key('callback-key', 'subscription', kinds.has('subscription')),
      key(html('span', {class: 'sync-key'}, '◇'), 'sync of several inputs', kinds.has('sync')),
      key('topic-key', 'topic', kinds.has('topic')),
      data.chains.map((chain, index) => key(swatch(index), chain.id))),
    html('div', {class: 'panel'},
      responsive(html('div', {class: 'scroller'}), (width) => drawGraphAt(graph, width))));
}

function drawGraphAt(graph, width) {
  const vertices = Object.values(graph.vertices);
  vertices.forEach(sizeVertex);
  const columns = Array.from({length: graph.layers}, () => 0);
  for (const vertex of vertices) {
    columns[vertex.layer] = Math.max(columns[vertex.layer], vertex.width);
  }
  const centres = [];
  let right = GRAPH.margin;
  for (const column of columns) {
    centres.push(right + column / 2);
    right += column + GRAPH.gap;
  }
  const full = right - GRAPH.gap + GRAPH.margin;
  const height = graph.height * GRAPH.row + GRAPH.box + 2 * GRAPH.margin + 16;
  const shrink = Math.max(0.72, Math.min(1, width / full));
  const drawing = svg('svg', {
    viewBox: `0 0 ${full} ${height}`, width: full * shrink, height: height * shrink,
    role: 'img', 'aria-label': 'Graph of the application’s callbacks and topics',
  });
  const y = (row) => GRAPH.margin + GRAPH.box / 2 + 8 + row * GRAPH.row;
  for (const edge of graph.edges) drawing.append(drawEdge(graph, edge, centres, columns, y));
  for (const vertex of vertices) {
    drawing.append(drawVertex(vertex, centres[vertex.layer], y(vertex.y)));
  }
  return drawing;
}

function vertexLines(vertex) {
  const facts = [vertex.node];
  if (vertex.releases) facts.push(vertex.releases);
  if (vertex.wcet_ns) facts.push(nominal(vertex.wcet_ns / 1e6));
  return [vertex.name, facts.join(' · ')];
}

function sizeVertex(vertex) {
  if (vertex.kind === 'joint') {
    vertex.width = 4;
  } else if (vertex.kind === 'topic') {
    vertex.text = fit(vertex.name, 150, 11);
    vertex.width = textWidth(vertex.text, 11) + 18;
  } else {
    vertex.lines = vertexLines(vertex).map((line, row) => fit(line, 190, row ? 11 : 13, !row));
    const text = Math.max(textWidth(vertex.lines[0], 13, true), textWidth(vertex.lines[1], 11));
    vertex.width = vertex.kind === 'sync' ? text * 1.35 + 56 : text + 24;
  }
}

function drawVertex(vertex, x, y) {
  const chains = vertex.chains || [];
  const group = svg('g', {
    class: `vertex ${vertex.kind} ${chainClass(chains.length ? Math.min(...chains) : null)}`,
  });
  const half = vertex.width / 2;
  if (vertex.kind === 'joint') return group;
  if (vertex.kind === 'topic') {
    group.append(
      svg('rect', {x: x - half, y: y - GRAPH.topic / 2, width: vertex.width, height: GRAPH.topic,
        rx: GRAPH.topic / 2}),
      label(vertex.text, x, y + 4, 11, {'text-anchor': 'middle', class: 'topic-name'}));
    return hover(group, () => [`topic ${vertex.name}`]);
  }
  if (vertex.kind === 'sync') {
    const tall = GRAPH.box / 2 + 10;
    group.append(svg('path', {d: `M${x - half},${y}L${x},${y - tall}L${x + half},${y}L${x},${y + tall}Z`}));
  } else {
    group.append(svg('rect', {x: x - half, y: y - GRAPH.box / 2, width: vertex.width,
      height: GRAPH.box, rx: 8}));
  }
  group.append(
    label(vertex.lines[0], x, y - 2, 13, {'text-anchor': 'middle', class: 'strong'}),
    label(vertex.lines[1], x, y + 14, 11, {'text-anchor': 'middle', class: 'muted'}));
  return hover(group, () => [vertex.name, `${vertex.kind} of node ${vertex.node}`,
    `priority ${vertex.priority}`, vertex.releases,
    vertex.wcet_ns ? `worst-case execution time ${nominal(vertex.wcet_ns / 1e6)}` : '']
    .filter((line) => line));
}

/** A line through the edge's bends; one strand per chain, side by side. */
function drawEdge(graph, edge, centres, columns, y) {
  const [from, to] = [graph.vertices[edge.from], graph.vertices[edge.to]];
  const strands = edge.chains.length ? edge.chains : [null];
  const group = svg('g', {class: 'edge'});
  strands.forEach((chain, index) => {
    const aside = (index - (strands.length - 1) / 2) * 4;
    const points = [[centres[from.layer] + from.width / 2, y(from.y) + aside]];
    for (const bend of edge.bends) {
      const half = columns[bend.layer] / 2;
      points.push([centres[bend.layer] - half, y(bend.y) + aside],
        [centres[bend.layer] + half, y(bend.y) + aside]);
    }
    const arrow = to.kind !== 'topic' && to.kind !== 'joint';
    const end = centres[to.layer] - to.width / 2 - (arrow ? 7 : 0);
    points.push([end, y(to.y) + aside]);
    group.append(svg('path', {class: `strand ${chainClass(chain)}`, d: smooth(points)}));
    if (arrow) {
      const tip = [end + 7, y(to.y) + aside];
      group.append(svg('path', {class: `arrow ${chainClass(chain)}`,
        d: `M${tip[0]},${tip[1]}l-9,-4.5v9z`}));
    }
  });
  return group;
}

/** A curve through the points that leaves and enters each of them horizontally. */
function smooth(points) {
  let path = `M${points[0][0]},${points[0][1]}`;
  for (let index = 1; index < points.length; ++index) {
    const [[x0, y0], [x1, y1]] = [points[index - 1], points[index]];
    const middle = (x0 + x1) / 2;
    path += `C${middle},${y0} ${middle},${y1} ${x1},${y1}`;
  }
  return path;
}
