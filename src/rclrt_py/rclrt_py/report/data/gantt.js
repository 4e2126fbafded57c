// SPDX-License-Identifier: Apache-2.0
// The timeline: the executors one below the other over the same interval.

const ZOOMS = [1, 2, 4, 8];

function drawGantt(data) {
  const section = html('section', {id: 'timeline'}, html('h2', {}, 'Timeline'));
  if (!data.gantt.choices.length) {
    section.append(html('p', {class: 'note'}, 'No instance was recorded.'));
    return section;
  }
  const narrow = document.documentElement.clientWidth < 720;
  const state = {choice: 0, mode: 'threads', zoom: narrow ? 2 : 1,
    cpus: hasSeveralCpus(data) ? 'shown' : 'hidden'};
  const panels = html('div', {class: 'timeline'});
  let width = 0;
  const scroller = html('div', {class: 'scroller', tabindex: 0, role: 'group',
    'aria-label': 'Timeline, scrolls sideways'}, panels);
  const draw = () => {
    if (!width) return;
    panels.replaceChildren(...drawPanels(data, state, width));
    // Bring the chosen instance of the first executor into view.
    const chosen = panels.querySelector('.chosen');
    if (!chosen) return;
    const names = panels.querySelector('.lane-names').getBoundingClientRect();
    scroller.scrollLeft += chosen.getBoundingClientRect().left - names.right - 24;
  };
  const choice = html('select', {id: 'window', 'aria-label': 'Window'},
    data.gantt.choices.map((one, index) => html('option', {value: index}, one.label)));
  choice.addEventListener('change', () => {
    state.choice = Number(choice.value);
    draw();
  });
  new ResizeObserver(() => {
    const now = Math.floor(scroller.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      draw();
    }
  }).observe(scroller);
  const drawn = drawnMarks(data.gantt.choices);
  section.append(
    html('p', {class: 'note'},
      `${data.gantt.note} Above, per chain: `,
      key('release-key', 'release'), key(html('span', {class: 'due-key'}, '▼'), 'deadline'),
      key('swatch soft-key', 'response'), key('swatch late-fill', 'late', drawn.late)),
    html('p', {class: 'note'}, 'Below, what ran when: ',
      key('swatch run-key', 'runs'), key('paused-key', 'preempted', drawn.paused),
      key('held-up-key', 'held up from outside', drawn.heldUp),
      key('migration-key', 'continues on another CPU', drawn.migration),
      key('unsure-key', 'changed the CPU, time unknown', drawn.unsure),
      data.chains.map((chain, index) => key(swatch(index), chain.id)),
      key(swatch(null), 'no chain', drawn.noChain)),
    html('div', {class: 'controls'},
      html('label', {}, 'Show the ', choice),
      buttons('Lanes', [['threads', 'threads'], ['callbacks', 'callbacks']], state.mode, (mode) => {
        state.mode = mode;
        draw();
      }),
      hasCpus(data) ? buttons('CPUs', ['shown', 'hidden'].map((is) => [is, is]), state.cpus, (is) => {
        state.cpus = is;
        draw();
      }) : [],
      buttons('Zoom', ZOOMS.map((zoom) => [zoom, `${zoom} ×`]), state.zoom, (zoom) => {
        state.zoom = zoom;
        draw();
      })),
    scroller);
  return section;
}

/** Which marks occur in any of the windows. */
function drawnMarks(choices) {
  const panels = choices.flatMap((choice) =>
    choice.panels.map((panel) => ({...panel, length: choice.length})));
  const hasSlice = (is) => panels.some((panel) => panel.slices.some(is));
  return {
    late: panels.some((panel) => panel.responses.some((response) =>
      responseEnd(response, panel.length) > response[4])),
    paused: hasSlice((slice) => slice.paused.length > 0),
    heldUp: hasSlice(heldUp),
    noChain: hasSlice((slice) => slice.chain === null),
    migration: hasSlice((slice) => (slice.parts || []).some((part) => part.length > 3)),
    unsure: hasSlice((slice) => (slice.cpus || []).length > 1),
  };
}

/** A row of buttons; one of them is pressed. */
function buttons(name, options, chosen, choose) {
  const group = html('div', {class: 'buttons', role: 'group', 'aria-label': name},
    html('span', {}, name));
  for (const [value, text] of options) {
    const button = html('button', {type: 'button', 'aria-pressed': value === chosen}, text);
    button.setAttribute('aria-pressed', String(value === chosen));
    button.addEventListener('click', () => {
      for (const other of group.querySelectorAll('button')) other.setAttribute('aria-pressed', 'false');
      button.setAttribute('aria-pressed', 'true');
      choose(value);
    });
    group.append(button);
  }
  return group;
}

function drawPanels(data, state, width) {
  const choice = data.gantt.choices[state.choice];
  const names = width < 600 ? 92 : 150;
  const right = Math.floor((width - names - 34) * state.zoom);
  const scale = makeScale(0, choice.length / 1e6, 8, right, false);
  scale.ticks = linearTicks(0, choice.length / 1e6, right / 90);
  const rows = choice.panels.map((panel) => {
    const layout = panelLanes(data, panel, state);
    return html('div', {class: 'gantt-panel'},
      html('div', {class: 'gantt-title'},
        html('h3', {}, data.executors[panel.executor].label),
        html('span', {class: 'note'}, panelNote(data, choice, panel))),
      html('div', {class: 'gantt-lanes'},
        html('div', {class: 'lane-names'}, drawLaneNames(data, layout, names)),
        drawPanel(data, panel, layout, scale, choice.length, state.mode)));
  });
  rows.push(html('p', {class: 'axis-note'}, `time since the start of the window (${scale.unit[0]})`));
  return rows;
}

/** The interval, its round, and the result of the chosen instance. */
function panelNote(data, choice, panel) {
  const from = panel.start / 1e9;
  const where = `round ${panel.round}, from ${significant(from, 6)} s`;
  const row = panel.responses.find((one) => one[0] === panel.chain && one[1] === panel.instance);
  const cut = panel.cut ? ' · too many slices, the later ones are left out' : '';
  if (!row) return where + cut;
  const [chain, instance, release, completion, deadline] = row;
  const late = completion > deadline ? `, ${time((completion - deadline) / 1e6)} late` : '';
  return `${data.chains[chain].id} #${instance}: ${time((completion - release) / 1e6)}${late} · ` +
    where + cut;
}
