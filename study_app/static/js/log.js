/** The log of one page load: numbers and stamps what happens, and sees to it that the server gets it. */

import { Clock } from './clock.js';
import { Outbox } from './outbox.js';
import { Store } from './store.js';

const FLUSH_MS = 4000;
const LOOK_FOR_LEFTOVERS_MS = 60_000;
const KEEP_LEFTOVERS_MS = 30 * 24 * 3600 * 1000;

export class Log {
  #clock = new Clock();
  #store = new Store();
  #numbered = 0;
  /** @type {Outbox} */
  #outbox;
  /** @type {Map<string, Outbox>} page token of an earlier page -> what it left behind */
  #leftovers = new Map();

  /** @param {{page: string, url: string}} address the page token and where its events go */
  constructor(address) {
    this.#outbox = new Outbox(address, this.#store, { clock: this.#clock });
    this.#findLeftovers();
    setInterval(() => this.#flush(), FLUSH_MS);
    setInterval(() => this.#findLeftovers(), LOOK_FOR_LEFTOVERS_MS);
    addEventListener('online', () => this.#flush(true));
  }

  /** @param {string} kind @param {Record<string, unknown>} [detail] */
  record(kind, detail = {}) {
    this.checkSleep();
    this.#add(kind, detail);
  }

  /** Write down a sleep of the machine, before anything that happens after it. */
  checkSleep() {
    const step = this.#clock.step();
    if (step) this.#add('sleep', { lost_ms: step });
  }

  /** The page may be gone in a moment: send what there is so that it arrives all the same. */
  leave() {
    this.#outbox.sendLast();
  }

  /** @param {string} kind @param {Record<string, unknown>} detail */
  #add(kind, detail) {
    this.#numbered += 1;
    this.#outbox.add({ n: this.#numbered, kind, ...this.#clock.now(), ...detail });
  }

  #flush(atOnce = false) {
    for (const [page, outbox] of this.#leftovers) if (outbox.empty) this.#leftovers.delete(page);
    for (const outbox of [this.#outbox, ...this.#leftovers.values()]) {
      if (atOnce) outbox.hurry();
      outbox.send();
    }
  }

  /** Take over what earlier pages of this browser could not send; nobody waits for what is a month old. */
  async #findLeftovers() {
    /** @type {Map<string, import('./store.js').Row[]>} */
    const found = new Map();
    for (const row of await this.#store.all()) {
      if (row.event.wall < Date.now() - KEEP_LEFTOVERS_MS) this.#store.remove(row.page, [row.n]);
      else found.set(row.page, [...(found.get(row.page) ?? []), row]);
    }
    found.delete(this.#outbox.address.page);
    for (const [page, rows] of found) {
      if (this.#leftovers.has(page)) continue;
      const pending = rows.map((row) => row.event);
      this.#leftovers.set(page, new Outbox({ page, url: rows[0].url }, this.#store, { pending }));
    }
    this.#flush();
  }
}
