// SPDX-License-Identifier: Apache-2.0
// Elements, text and the tooltip. Text from the data only ever becomes a text node.

const SVG = 'http://www.w3.org/2000/svg';
const FONT = '"Inter", "Segoe UI", "Helvetica Neue", "Liberation Sans", "DejaVu Sans", sans-serif';

function append(parent, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      parent.setAttribute(name, value === true ? '' : String(value));
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) {
      parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }
  return parent;
}

/** An HTML element. */
function html(name, attributes = {}, ...children) {
  return append(document.createElement(name), attributes, children);
}

/** An SVG element. */
function svg(name, attributes = {}, ...children) {
  return append(document.createElementNS(SVG, name), attributes, children);
}

/** An SVG text at a point; `size` in pixels. */
function label(text, x, y, size, attributes = {}) {
  return svg('text', {x, y, 'font-size': size, ...attributes}, text);
}

const measure = document.createElement('canvas').getContext('2d');

function textWidth(text, size, bold = false) {
  measure.font = `${bold ? 'bold ' : ''}${size}px ${FONT}`;
  return measure.measureText(text).width;
}

/** The text, shortened in its middle so that it is not wider than `width` pixels. */
function fit(text, width, size, bold = false) {
  if (textWidth(text, size, bold) <= width) return text;
  const letters = Array.from(text);
  let kept = Math.min(letters.length - 1, 60);
  for (; kept > 1; --kept) {
    const head = letters.slice(0, Math.ceil(kept / 2)).join('');
    const tail = letters.slice(letters.length - Math.floor(kept / 2)).join('');
    if (textWidth(`${head}…${tail}`, size, bold) <= width) return `${head}…${tail}`;
  }
  return '…';
}

const COLOURS = 7;
const PATTERNS = 4;

/** The classes that give an element the colour of a chain, and a pattern from the eighth chain on;
 * null is "no chain". */
function chainClass(index) {
  if (index === null || index === undefined) return 'k-none';
  const pattern = Math.floor(index / COLOURS) % PATTERNS;
  return `k${index % COLOURS}${pattern ? ` p${pattern}` : ''}`;
}

function swatch(index) {
  return html('span', {class: `swatch ${chainClass(index)}`});
}

/** An entry of a legend. `mark`: an element, or its class. Nothing if the page has no such mark. */
function key(mark, text, drawn = true) {
  if (!drawn) return null;
  const element = mark instanceof Node ? mark : html('span', {class: mark});
  return [html('span', {class: 'key'}, element, text), ' '];
}

/** A chart that is drawn at its real width, and again whenever that changes. */
function responsive(container, draw) {
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(container.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      container.replaceChildren(draw(width));
    }
  }).observe(container);
  return container;
}

/** Shows `lines` (the first one is the title) while the pointer is over the element. */
function hover(element, lines) {
  element.addEventListener('pointerenter', (event) => showTooltip(event, lines()));
  element.addEventListener('pointermove', placeTooltip);
  element.addEventListener('pointerleave', hideTooltip);
  return element;
}

function showTooltip(event, lines) {
  const tooltip = document.getElementById('tooltip');
  tooltip.replaceChildren(
    html('strong', {}, lines[0]), ...lines.slice(1).map((line) => html('div', {}, line)));
  tooltip.hidden = false;
  placeTooltip(event);
}

function placeTooltip(event) {
  const tooltip = document.getElementById('tooltip');
  const room = document.documentElement.clientWidth - tooltip.offsetWidth - 8;
  const below = event.clientY + 16 + tooltip.offsetHeight < window.innerHeight;
  tooltip.style.left = `${Math.max(8, Math.min(event.clientX + 12, room))}px`;
  tooltip.style.top =
    `${below ? event.clientY + 16 : Math.max(4, event.clientY - tooltip.offsetHeight - 12)}px`;
}

function hideTooltip() {
  document.getElementById('tooltip').hidden = true;
}
