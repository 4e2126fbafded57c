// SPDX-License-Identifier: Apache-2.0
// The examples, of which one is opened: on the page of its own, or in place of what is open.

const isOpen = () => Boolean(plan.state && plan.state.answer);

function exampleList(examples) {
  return html('ul', {class: 'examples'}, examples.map((example) => {
    const choose = button('', () => openExample(example.name), {class: 'example', 'data-example': example.name});
    append(choose, {}, [html('strong', {}, example.name), html('span', {}, example.description),
      html('span', {class: 'note'}, [[example.callbacks, 'callback'], [example.chains, 'chain'],
        [example.executors, 'executor']].map(([n, word]) => `${n} ${word}${n === 1 ? '' : 's'}`).join(', '))]);
    return html('li', {}, choose);
  }));
}

/** The page while nothing is open. */
function drawChooser() {
  document.getElementById('top').replaceChildren(
    html('div', {class: 'title'}, html('h1', {}, 'rclrt plan')));
  const page = html('section', {id: 'chooser', 'aria-label': 'Examples'},
    html('h2', {}, 'Choose an example'),
    html('p', {class: 'note'}, 'To open an application of your own, start ', html('code', {}, 'rclrt plan APP.yaml'), '. '
      + 'Examples are not written: what you change can be downloaded.'),
    exampleList(plan.state.examples));
  const old = document.getElementById('chooser');
  if (old) old.replaceWith(page);
  else document.getElementById('work').before(page);
}

async function openExample(example) {
  const open = document.querySelector('dialog[open]');
  if (open) open.close();
  await request('open', {example});
  const chooser = document.getElementById('chooser');
  if (chooser && isOpen()) chooser.remove();
}

async function openExamples() {
  let examples;
  try {
    ({examples} = await call('examples'));
  } catch (error) {
    say(error.message, true);
    return;
  }
  dialog('examples-dialog', 'Examples',
    plan.state.dirty ? html('p', {class: 'wrong'}, 'The changes to this application are not saved. Another one replaces it.') : null,
    exampleList(examples), html('p', {class: 'choices'}, closeButton()));
}
