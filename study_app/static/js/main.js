/**
 * Starts what a page needs. Nothing here is needed to answer: every form works without it, and what fails to start
 * leaves the rest running.
 */

import { Citations } from './citations.js';
import { Delivery } from './delivery.js';
import { Dock } from './dock.js';
import { Draft } from './draft.js';
import { Dwell } from './dwell.js';
import { Layers } from './layers.js';
import { Layout } from './layout.js';
import { Log } from './log.js';
import { Pair } from './pair.js';
import { LocalTime } from './local-time.js';
import { Presence } from './presence.js';
import { Rate } from './rate.js';
import { Scroll } from './scroll.js';
import { SearchTimer } from './search-timer.js';
import { Stream } from './stream.js';

/**
 * @template Part
 * @param {() => Part} begin
 * @returns {Part | undefined}
 */
function start(begin) {
  try {
    return begin();
  } catch {
    return undefined;
  }
}

document.documentElement.dataset.scripted = '';
const { page, events: url } = document.body.dataset;
const log = page && url ? start(() => new Log({ page, url })) : undefined;

/** @type {HTMLElement | null} */
const bar = document.querySelector('[data-dock]');
const dock = bar ? start(() => new Dock(bar)) : undefined;
/** @type {HTMLTemplateElement | null} */
const notice = document.querySelector('template#unsent');
for (const form of document.forms) {
  if (!form.querySelector('input[name=page]')) continue;
  // On a page of a stream what was read is marked by script, each time anew.
  const draft = form.querySelector('[data-module=stream]') ? undefined : start(() => new Draft(form));
  start(() => new Delivery(form, notice, () => start(() => draft?.drop())));
}

const pair = document.querySelector('[data-module=pair]');
const layout = pair ? start(() => new Layout(pair, log)) : undefined;
if (log) {
  start(() => new Presence(log, () => ({ layout: layout?.name ?? 'stacked', width: innerWidth, height: innerHeight })));
  start(() => new Scroll(log, dock));
}
if (pair) {
  start(() => new Pair(pair, log, layout));
  start(() => new Citations(pair));
  if (log) {
    start(() => new Layers(pair, log));
    start(() => new Dwell(pair, log, dock));
  }
}
const ratings = document.querySelector('[data-module=rate]');
if (ratings) start(() => new Rate(ratings));
const section = document.querySelector('[data-module=stream]');
if (section) {
  const stream = start(() => new Stream(section, log));
  if (log) start(() => new Dwell(section, log, dock, (update) => stream?.mark(update)));
}
for (const time of document.querySelectorAll('[data-module=local-time]')) start(() => new LocalTime(time));
/** @type {HTMLElement | null} */
const timer = document.querySelector('[data-module=search-timer]');
if (timer) start(() => new SearchTimer(timer));
