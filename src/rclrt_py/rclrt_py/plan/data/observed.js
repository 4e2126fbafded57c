// SPDX-License-Identifier: Apache-2.0
// Measured times beside the bounds: of a run, or of robots that run now.

const observedOf = (callback) => (plan.state.observed && plan.state.observed.callbacks[callback.id]) || null;
const isLive = () => Boolean(plan.state.observed && plan.state.observed.live);

/** The measured times of a chain. A robot measures a chain by the age at its last callback, or by the
 * response of its only one. */
function observedOfChain(chain) {
  const {observed} = plan.state;
  if (!observed) return null;
  if (!observed.live) return observed.chains[chain.id] || null;
  const last = observedOf(model().callbacks[chain.callbacks[chain.callbacks.length - 1]]);
  const isWhole = last && (last.is_age || (!chain.samples && chain.callbacks.length === 1));
  return isWhole ? {...last, culprits: last.causes.map((cause) => cause.what)} : null;
}

/** Whether the version on the page is the one that may have been measured: a robot does not run what
 * is saved meanwhile. */
const isMeasured = () => plan.state.version === plan.state.first;

/** Whether a measured time is above a bound. A monitor rounds times up, by 1 % at the most. */
function isAbove(seen, bound) {
  return isMeasured() && bound !== null && seen.worst_ms > bound * (isLive() ? 1.011 : 1);
}

/** Whether an age at the end of a chain counts from the release of its first callback or later: a
 * timer stamps the data, and the callback has them from no other chain. */
function isAgeOfChain(chain) {
  const end = chain.callbacks[chain.callbacks.length - 1];
  const parts = chain.callbacks.map((index) => model().callbacks[index].kind);
  return parts[0] === 'timer' && !parts.includes('sync') &&
    allChains().filter((each) => each.callbacks[each.callbacks.length - 1] === end).length === 1;
}

/** Whether a callback took longer than the bound of one of its chains: its part cannot. */
function isAboveBound(callback) {
  const seen = observedOf(callback);
  if (!seen || seen.worst_ms === null || seen.is_age) return false;
  const index = model().callbacks.indexOf(callback);
  return allChains().some((chain) => !chain.samples && chain.callbacks.includes(index) &&
    isAbove(seen, chain.bound.bound_ms));
}

/** The longest measured response, in red above the bound. */
function seenWorst(chain, bound) {
  const seen = observedOfChain(chain);
  if (!seen || seen.worst_ms === null) return null;
  const above = isAbove(seen, bound) && (!seen.is_age || isAgeOfChain(chain));
  return html('span', {class: `seen${above ? ' late-text' : ''}`},
    `${seen.is_age ? 'age' : 'measured'} ${exact(seen.worst_ms)}${above ? ', above' : ''}`);
}

/** Where the measured times of a run are from. */
function observedNote() {
  const {application, executor, directory} = plan.state.observed;
  const other = application && application !== model().name
    ? ` They are of another application, ${application}.` : '';
  return html('p', {class: 'note', id: 'observed-note'},
    `Measured under ${executor}${directory ? `, in ${directory}` : ''}` +
    `${isMeasured() ? '.' : ', before these changes.'}${other}`);
}

/** The measured times of a chain, if results were named, or a robot measures it. */
function observedChain(chain) {
  const seen = observedOfChain(chain);
  if (!seen) return null;
  const culprits = seen.culprits.length ? `; they were delayed by ${seen.culprits.join(', ')}` : '';
  const what = seen.is_age ? 'ages' : 'responses';
  if (isLive()) {
    return html('p', {class: 'observed'}, `measured: ${observedTimes(seen)}, ${seen.missed} of ` +
      `${seen.n + seen.dropped} ${what} missed${seen.missed ? culprits : ''}`);
  }
  return html('p', {class: 'observed'}, seen.worst_ms === null ? 'measured: no response'
    : `measured: p99 ${exact(seen.p99_ms)} ms, maximum ${exact(seen.worst_ms)} ms of ${seen.n} responses, ` +
      `${seen.missed} missed${seen.missed ? culprits : ''}`);
}

/** The times that robots measure of each callback of a chain. */
function observedSteps(chain) {
  if (!isLive()) return null;
  const steps = chain.callbacks.map((index) => model().callbacks[index]).filter(observedOf);
  return steps.length ? html('ul', {class: 'steps'}, steps.map((step) =>
    html('li', {}, html('strong', {}, step.id), ` ${observedFacts(step).join('; ')}`))) : null;
}

function observedTimes(seen) {
  const time = (ms) => (ms === null ? 'none' : `${exact(ms)} ms`);
  return `p99 ${time(seen.p99_ms)}, maximum ${time(seen.worst_ms)}`;
}

/** On a card, behind its execution time. */
function observedText(callback) {
  const seen = observedOf(callback);
  if (!seen) return '';
  const parts = [seen.silent ? 'silent' : seen.p99_ms === null ? '' : `p99 ${significant(seen.p99_ms)}`,
    seen.worst_ms === null ? '' : `max ${significant(seen.worst_ms)}`, seen.missed ? `${seen.missed} missed` : ''];
  return parts.map((part) => (part ? `, ${part}` : '')).join('').replace(',', ' ·');
}

function observedClass(callback) {
  const seen = observedOf(callback);
  if (!seen) return '';
  return `${seen.missed || seen.stuck || isAboveBound(callback) ? ' missed' : ''}${seen.silent ? ' silent' : ''}`;
}

/** The measured times of a callback, as parts of a sentence. */
function observedFacts(callback) {
  const seen = observedOf(callback);
  if (!seen) return [];
  const times = observedTimes(seen);
  if (!isLive()) return [`${times} from ready to end`];
  const facts = [`${seen.is_age ? 'age' : 'response'}: ${times}, limit ${exact(seen.limit_ms)} ms` +
    `${isAboveBound(callback) ? ', above the bound of its chain' : ''}`,
  `${seen.missed} of ${seen.n + seen.dropped} missed${seen.fresh > 0 ? `, ${seen.fresh} of them since the last message` : ''}`];
  if (seen.worst_late_ms > 0) facts.push(`the worst ${exact(seen.worst_late_ms)} ms late`);
  if (seen.causes.length) facts.push(`most in the way: ${seen.causes.slice(0, 4).map(causeText).join(', ')}`);
  if (seen.stuck) facts.push(seen.stuck);
  if (seen.unknown) facts.push(`${seen.unknown} ages are unknown: ${seen.note}`);
  else if (seen.note && !seen.missed) facts.push(seen.note);
  if (seen.silent) facts.push('silent now');
  return facts;
}

const causeText = (cause) => `${cause.what} (${exact(cause.time_ms)} ms in all)`;

const observedLines = (callback) => observedFacts(callback).map((fact, index) => (index ? fact : `measured: ${fact}`));

/** Below the fields of a callback. */
function drawObservedCallback(id) {
  const facts = observedLines(callbackById(id));
  return html('p', {id: 'observed-callback', class: facts.length ? 'observed' : null}, facts.join('; '));
}

/** The callbacks that measured misses of what is selected were blamed on. */
function measuredCauses() {
  const chosen = plan.selected;
  if (!chosen || !isLive()) return [];
  const chain = selectedChain();
  const late = chain ? chain.callbacks.map((index) => model().callbacks[index])
    : chosen.kind === 'callback' ? [callbackById(chosen.id)] : [];
  return late.filter((each) => each && observedOf(each)).flatMap((each) => observedOf(each).causes)
    .filter((cause) => cause.is_callback).map((cause) => cause.what);
}

/** The robots that are heard, their misses, and what they report that the file lacks. */
function drawRobots() {
  if (!isLive()) return null;
  const {robots, notices, error, hint, topic} = plan.state.observed;
  return html('section', {id: 'robots'}, html('h2', {}, 'Robots'),
    plan.offline ? html('p', {class: 'note'}, 'What robots measured until this page was saved.')
      : robots.length ? html('ul', {class: 'robots'}, robots.map(drawRobot))
        : html('p', {class: 'note'}, `Nothing is heard on ${topic} yet: ${hint}.`),
    error ? html('p', {class: 'wrong'}, error) : null,
    notices.map((notice) => html('p', {class: 'wrong'}, notice)), drawMissed(), drawUnknown());
}

function drawRobot(robot) {
  const silent = robot.silent_s !== null;
  const count = robot.callbacks === 1 ? '1 callback' : `${robot.callbacks} callbacks`;
  return html('li', {class: silent ? 'wrong' : null, 'data-robot': robot.name},
    html('strong', {}, robot.name), silent
      ? ` is silent for ${robot.silent_s} s: it has ended, or its messages do not arrive. Its last values stay, as "silent".`
      : html('span', {class: robot.level ? 'wrong' : null}, `: ${robot.message}, ${count} with a limit`),
    robot.without_blame ? html('span', {class: 'note'}, ` The cause of ${robot.without_blame} misses is unknown.`) : null);
}

/** The callbacks with misses, the one with most misses first. */
function drawMissed() {
  const late = model().callbacks.filter((callback) => observedOf(callback) && observedOf(callback).missed)
    .sort((a, b) => observedOf(b).missed - observedOf(a).missed);
  if (!late.length) return null;
  return [html('h3', {}, 'Missed'), html('ul', {class: 'missed-list'}, late.map((callback) => {
    const name = html('button', {type: 'button', class: 'plain', 'data-missed': callback.id}, callback.id);
    name.addEventListener('click', () => select('callback', callback.id));
    const [, missed, ...rest] = observedFacts(callback);
    return html('li', {}, name, html('span', {class: 'late-text'}, ` ${missed}`), rest.map((fact) => `; ${fact}`));
  }))];
}

function drawUnknown() {
  const {unknown, more_unknown: more} = plan.state.observed;
  if (!unknown.length) return null;
  return html('p', {class: 'note', id: 'unknown'},
    `Callbacks of the robots that are not in this file: ${unknown.join(', ')}${more ? `, and ${more} more` : ''}.`);
}

let pointer = {x: 0, y: 0};

addEventListener('pointermove', (event) => {
  pointer = {x: event.clientX, y: event.clientY};
});

/** Draws newer measured times. Fields, focus, tooltip and scrolling stay as a person has them. */
function drawObserved() {
  if (pressed || drag || plan.sliding) return;
  const focus = focusOf(document.activeElement);
  const hadTooltip = !document.getElementById('tooltip').hidden;
  const table = document.querySelector('#chains .many');
  const top = table ? table.scrollTop : 0;
  [drawChains(), drawRobots()].filter((section) => section).forEach(replaceSection);
  if (table) document.querySelector('#chains .many').scrollTop = top;
  const facts = document.getElementById('observed-callback');
  if (facts) facts.replaceWith(drawObservedCallback(plan.selected.id));
  drawGraph();
  const again = focus && document.querySelector(focus);
  if (again && again !== document.activeElement) again.focus({preventScroll: true});
  if (hadTooltip) showTooltipAgain();
}

/** Shows the tooltip of what is under the pointer after it was drawn again. */
function showTooltipAgain() {
  hideTooltip();
  for (let one = document.elementFromPoint(pointer.x, pointer.y); one; one = one.parentElement) {
    one.dispatchEvent(new PointerEvent('pointerenter', {clientX: pointer.x, clientY: pointer.y}));
  }
}

const FOLLOW_MS = {run: 2000, live: 1000};

/** Asks for newer measured times while a run goes on, or robots are heard. */
async function followRun() {
  while (!plan.offline) {
    await new Promise((resolve) => { setTimeout(resolve, isOpen() && isLive() ? FOLLOW_MS.live : FOLLOW_MS.run); });
    if (!isOpen() || !plan.state.observed || !plan.state.observed.goes_on || plan.lost) continue;
    const {first, observed: before} = plan.state;
    const found = await call('observed').catch(() => null);
    if (!found || plan.state.first !== first || JSON.stringify(found.observed) === JSON.stringify(before)) continue;
    plan.state.observed = found.observed;
    drawObserved();
  }
}
