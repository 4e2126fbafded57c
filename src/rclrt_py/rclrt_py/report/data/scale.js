// SPDX-License-Identifier: Apache-2.0
// Numbers with units, scales from milliseconds to pixels, and axes.

/** `digits` significant digits at least, without an exponent. */
function rounded(value, digits = 3) {
  if (value === 0) return '0';
  const decimals = digits - 1 - Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.max(0, Math.min(decimals, 9)));
}

/** The same without needless zeros, for nominal values and ticks: 50, not 50.0. */
function significant(value, digits = 3) {
  const text = rounded(value, digits);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const UNITS = [['s', 1000], ['ms', 1], ['µs', 1e-3], ['ns', 1e-6]];

/** The largest unit in which `ms` is at least 1. */
function unitFor(ms) {
  return UNITS.find(([, size]) => Math.abs(ms) >= size * 0.9995) || UNITS[3];
}

/** A measured time with a unit of its own; exact figures are in the table. */
function time(ms, write = rounded) {
  if (ms === null || ms === undefined) return '–';
  if (ms === 0) return '0 ms';
  const [unit, size] = Math.abs(ms) < 10000 && Math.abs(ms) >= 1 ? UNITS[1] : unitFor(ms);
  return `${write(ms / size)} ${unit}`;
}

/** A time that the user set, such as a deadline. */
function nominal(ms) {
  return time(ms, (value) => significant(value, 6));
}

/** The deadline of a chain; null: it has none. */
function deadlineText(ms) {
  return ms === null ? 'no deadline' : `deadline ${nominal(ms)}`;
}

function percent(share) {
  return `${significant(share * 100, 2)} %`;
}

function ratio(value) {
  return value === null || value === undefined ? '–' : `${value.toFixed(value < 10 ? 2 : 0)} ×`;
}

/** Round steps of 1, 2 or 5 times a power of ten, about `count` of them over the range. */
function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  const ticks = [];
  for (let index = Math.ceil(low / step); index * step <= high * (1 + 1e-9); ++index) {
    ticks.push(index * step);
  }
  return ticks;
}

/** 1, 2, 5 per decade; only the decades if there are many. */
function logTicks(low, high, count) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
    for (const factor of [1, 2, 5]) {
      const value = factor * 10 ** power;
      if (value >= low && value <= high) ticks.push(value);
    }
  }
  const decades = ticks.filter((tick) => Math.abs(Math.log10(tick) % 1) < 1e-9);
  return ticks.length > count && decades.length > 1 ? decades : ticks;
}

/** A scale from [low, high] in ms to [left, right] in pixels. */
function makeScale(low, high, left, right, log) {
  const to = log ? Math.log : (value) => value;
  const back = log ? Math.exp : (value) => value;
  const span = to(high) - to(low) || 1;
  const scale = (ms) => left + (right - left) * (to(ms) - to(low)) / span;
  Object.assign(scale, {left, right});
  scale.invert = (pixel) => back(to(low) + span * (pixel - left) / (right - left));
  scale.ticks = (log ? logTicks : linearTicks)(low, high, (right - left) / 60);
  scale.unit = log ? unitFor(Math.sqrt(low * high)) : unitFor(high);
  if (scale.unit[0] === 's' && high < 10000) scale.unit = UNITS[1];
  return scale;
}

/** Tick lines up to `top`, labels below `y`, and the title with the unit. */
function horizontalAxis(scale, y, top, title) {
  const [unit, size] = scale.unit;
  const axis = svg('g', {class: 'axis'});
  for (const tick of scale.ticks) {
    const x = scale(tick);
    axis.append(svg('line', {class: 'grid', x1: x, x2: x, y1: top, y2: y}));
    axis.append(label(significant(tick / size), x, y + 14, 11,
      {'text-anchor': 'middle', class: 'tick'}));
  }
  if (title) {
    const [left, right] = [scale.left, scale.right];
    axis.append(label(
      `${title} (${unit})`, (left + right) / 2, y + 31, 12,
      {'text-anchor': 'middle', class: 'axis-title'}));
  }
  return axis;
}
