// SPDX-License-Identifier: Apache-2.0
// The differences to the file, and writing the files that were named at the start.

const OUTPUT_NAMES = {app: 'the application', priorities: 'its priorities', robot: 'the robot.yaml'};

function dialog(id, title, ...content) {
  const old = document.getElementById(id);
  if (old) old.remove();
  const made = html('dialog', {id, 'aria-label': title}, html('h2', {}, title), content);
  made.addEventListener('close', () => made.remove());
  document.body.append(made);
  made.showModal();
  return made;
}

const closeButton = (text = 'Close') => button(text, (event) => event.target.closest('dialog').close(),
  {'data-always': '1'});

async function openSave() {
  if (readOnly()) return;
  let outcomes;
  try {
    outcomes = await Promise.all(plan.state.outputs.map(async ({what}) =>
      [what, await call('outcome', {what}).catch((error) => ({error: error.message}))]));
  } catch (error) {
    say(error.message, true);
    return;
  }
  dialog('save-dialog', 'Save',
    outcomes.map(([what, outcome]) => drawOutcome(what, outcome)),
    drawDownloads(outcomes.map(([what]) => what)),
    html('section', {}, html('h3', {}, 'This page as one file'),
      html('p', {class: 'note'}, 'It opens without a server and without a network, read only.'),
      button('Save the page', savePage, {id: 'save-page'})),
    html('p', {class: 'choices'}, closeButton()));
}

function drawOutcome(what, outcome) {
  const title = `Write ${OUTPUT_NAMES[what]}`;
  if (outcome.error) return html('section', {}, html('h3', {}, title), html('p', {class: 'wrong'}, outcome.error));
  const replaced = outcome.exists && outcome.diff;
  const section = html('section', {'data-output': what},
    html('h3', {}, title), html('p', {class: 'path'}, outcome.path),
    outcome.changed_on_disk ? html('p', {class: 'wrong'},
      'The file was changed by something else since this page read it; writing replaces that too.') : null,
    outcome.diff ? drawDiff(outcome.diff) : html('p', {class: 'note'}, 'It has this content already.'),
    outcome.diff ? button(replaced ? 'Replace this file' : 'Write this file',
      (event) => writeFile(what, outcome.seen, event.target.closest('section')), {class: 'primary', 'data-write': what}) : null);
  return section;
}

async function writeFile(what, seen, section) {
  try {
    const saved = await call('save', {what, seen});
    section.replaceChildren(html('p', {class: 'good'}, `✓ ${saved.saved} is written.`));
    setState(saved);
  } catch (error) {
    section.append(html('p', {class: 'wrong'}, error.message));
  }
}

function drawDiff(text) {
  return html('pre', {class: 'diff', tabindex: 0}, text.split('\n').map((line) => {
    const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : line.startsWith('@') ? 'place' : '';
    return html('span', {class: kind}, `${line}\n`);
  }));
}

async function openDiff() {
  let text;
  if (plan.offline) return;
  try {
    text = (await call('diff')).diff;
  } catch (error) {
    say(error.message, true);
    return;
  }
  dialog('diff-dialog', 'Differences to the file',
    text ? drawDiff(text) : html('p', {}, 'There are none.'), html('p', {class: 'choices'}, closeButton()));
}

/** Files that no option names: the browser keeps them. */
function drawDownloads(named) {
  const others = Object.keys(OUTPUT_NAMES).filter((what) => !named.includes(what));
  if (!others.length) return null;
  const options = {app: '--out', priorities: '--priorities-out', robot: '--robot-out'};
  return html('section', {id: 'downloads'}, html('h3', {}, 'Download'),
    html('p', {class: 'note'}, 'rclrt writes only the files that its command names: ',
      others.map((what) => `${options[what]} FILE`).join(', '), '. The browser can keep a copy:'),
    html('p', {class: 'choices'}, others.map((what) =>
      button(capital(OUTPUT_NAMES[what]), (event) => download(what, event.target.closest('section')),
        {'data-download': what, class: what === 'app' && plan.state.dirty ? 'primary' : null}))));
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

async function download(what, section) {
  try {
    const {name, text, state} = await call('download', {what});
    keepFile(name, text, 'application/yaml');
    setState(state);
    section.append(html('p', {class: 'good'}, `✓ ${name} goes to the browser's folder of downloads.`));
  } catch (error) {
    section.append(html('p', {class: 'wrong'}, error.message));
  }
}

function keepFile(name, text, type) {
  const link = html('a', {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function savePage() {
  try {
    const {html: text} = await call('page');
    keepFile(`${model().name}-plan.html`, text, 'text/html');
  } catch (error) {
    say(error.message, true);
  }
}
