// SPDX-License-Identifier: Apache-2.0
// Dragging a card to another executor, or to a new one.

const DRAG_AFTER_PX = 6;
let drag = null;

function draggable(element, card) {
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || readOnly()) return;
    drag = {element, card, x: event.clientX, y: event.clientY, moved: false, over: null};
  });
}

addEventListener('pointermove', (event) => {
  if (!drag) return;
  const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.moved && Math.hypot(x, y) < DRAG_AFTER_PX) return;
  if (!drag.moved) beginDrag();
  drag.ghost.setAttribute('transform', `translate(${x / view.scale},${y / view.scale})`);
  const over = dropPlace(event.clientX, event.clientY);
  if (over === drag.over) return;
  document.querySelectorAll('.drop').forEach((each) => each.classList.remove('drop'));
  drag.over = over;
  if (over) over.classList.add('drop');
});

function swallow(event) {
  event.stopPropagation();
}

/** Ends a drag. Returns what was dragged, or null if nothing was. */
function endDrag() {
  const ended = drag;
  drag = null;
  if (!ended || !ended.moved) return null;
  document.body.classList.remove('dragging');
  ended.ghost.remove();
  document.querySelectorAll('.drop').forEach((each) => each.classList.remove('drop'));
  document.getElementById('new-executor').remove();
  return ended;
}

addEventListener('pointercancel', endDrag);
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && endDrag()) event.stopImmediatePropagation();
}, true);

addEventListener('pointerup', () => {
  const ended = endDrag();
  if (!ended) return;
  // A click that follows would select the card.
  addEventListener('click', swallow, {capture: true, once: true});
  setTimeout(() => removeEventListener('click', swallow, {capture: true}), 0);
  if (!ended.over) return;
  const ids = ended.card.callbacks.map((index) => model().callbacks[index].id);
  const name = ended.over.getAttribute('data-executor');
  if (name !== null) moveTo(ids, name);
  else moveToNew(ids);
});

function beginDrag() {
  drag.moved = true;
  document.body.classList.add('dragging');
  hideTooltip();
  drag.ghost = drag.element.cloneNode(true);
  drag.ghost.setAttribute('class', `${drag.element.getAttribute('class')} ghost`);
  drag.element.parentNode.append(drag.ghost);
  document.getElementById('graph').append(
    html('div', {id: 'new-executor'}, 'Drop here for a new executor'));
}

/** The container at a place of the window, or the place for a new one. */
function dropPlace(x, y) {
  const under = document.elementsFromPoint(x, y);
  const fresh = under.find((each) => each.id === 'new-executor');
  if (fresh) return fresh;
  const boxes = [...document.querySelectorAll('.executor > rect')];
  const box = boxes.find((each) => {
    const {left, right, top, bottom} = each.getBoundingClientRect();
    return x >= left && x <= right && y >= top && y <= bottom;
  });
  return box ? box.parentNode : null;
}

/** Gives callbacks to an executor. */
function moveTo(ids, executor) {
  const index = model().executors.findIndex((each) => each.name === executor);
  const moved = ids.filter((id) => callbackById(id).executor !== index);
  if (!moved.length) return undefined;
  return change(moved.map((callback) => ({op: 'move', callback, executor})),
    moved.length === 1 ? `${moved[0]} to ${executor}` : `${moved.length} callbacks to ${executor}`);
}

/** Gives callbacks to a new executor on the next CPU. */
function moveToNew(ids) {
  const {name, cpus} = newExecutor();
  return change([{op: 'executor', name, cpus},
    ...ids.map((callback) => ({op: 'move', callback, executor: name}))], `${ids[0]} to new ${name}`);
}

function newExecutor() {
  const {executors} = model();
  let number = executors.length + 1;
  while (executors.some((each) => each.name === `executor_${number}`)) number += 1;
  const used = executors.flatMap((each) => each.cpus);
  return {name: `executor_${number}`, cpus: used.length ? [Math.max(...used) + 1] : []};
}
