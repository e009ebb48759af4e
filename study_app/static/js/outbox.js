/**
 * The events of one page load on their way to the server: kept until it says that it has them, sent for ever.
 *
 * An event leaves the outbox only when the server's `upto` reaches it, when a batch of it alone was refused as
 * malformed, or when it was stored behind a gap that this browser cannot fill.
 *
 * @typedef {import('./store.js').LoggedEvent} LoggedEvent
 */

const BATCH_BYTES = 48 * 1024;
const ENVELOPE_BYTES = 200;
const TIMEOUT_MS = 20_000;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;
const MALFORMED = [400, 413];

export class Outbox {
  /** @type {LoggedEvent[]} in order of their numbers */
  #pending;
  /** @type {LoggedEvent[]} added in this very moment, not yet in the store */
  #fresh = [];
  #most = Infinity;
  #failures = 0;
  #notBefore = 0;
  #sending = false;

  /**
   * @param {{page: string, url: string}} address the page token and where its events go
   * @param {import('./store.js').Store} store
   * @param {{clock?: import('./clock.js').Clock, pending?: LoggedEvent[]}} page the clock of the living page, or what
   *   the store holds of an earlier one
   */
  constructor(address, store, { clock, pending = [] }) {
    this.address = address;
    this.store = store;
    this.clock = clock;
    this.#pending = pending;
  }

  get empty() {
    return this.#pending.length === 0;
  }

  /** @param {LoggedEvent} event */
  add(event) {
    this.#pending.push(event);
    if (this.#fresh.push(event) === 1) queueMicrotask(() => this.#keep(this.#fresh.splice(0)));
  }

  /** Try at once again, for example because the network is back. */
  hurry() {
    this.#notBefore = 0;
  }

  /** Send what waits, one batch after the other, unless a batch is under way or a failure is too recent. */
  async send() {
    if (this.#sending || performance.now() < this.#notBefore) return;
    this.#sending = true;
    let going = true;
    while (going && !this.empty) going = await this.#sendBatch(false);
    this.#sending = false;
  }

  /** Send the first batch in a way that outlives the page; the answer counts if the page is still there to hear it. */
  async sendLast() {
    if (this.empty) return;
    if ('keepalive' in Request.prototype) await this.#sendBatch(true);
    else navigator.sendBeacon(this.address.url, this.#body(this.#batch()));
  }

  /** @param {LoggedEvent[]} events */
  #keep(events) {
    this.store.put(events.map((event) => ({ ...this.address, n: event.n, event })));
  }

  /** @param {boolean} keepalive @returns {Promise<boolean>} whether the next batch may follow at once */
  async #sendBatch(keepalive) {
    const batch = this.#batch();
    try {
      const answer = await fetch(this.address.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: this.#body(batch),
        keepalive,
        signal: keepalive ? undefined : AbortSignal.timeout?.(TIMEOUT_MS),
      });
      if (MALFORMED.includes(answer.status)) return this.#refused(batch);
      const { upto } = answer.ok ? await answer.json() : {};
      if (!Number.isInteger(upto) || !this.#stored(batch, upto)) throw new Error('not stored');
      this.#failures = 0;
      this.#most = Infinity;
      return true;
    } catch {
      this.#waitLonger();
      return false;
    }
  }

  /** @returns {LoggedEvent[]} the first events that fit in one request */
  #batch() {
    let room = BATCH_BYTES - ENVELOPE_BYTES - this.address.page.length;
    const most = this.#pending.slice(0, Math.min(this.#most, this.#pending.length));
    const end = most.findIndex((event) => (room -= JSON.stringify(event).length + 1) < 0);
    return end < 0 ? most : most.slice(0, Math.max(end, 1));
  }

  /** @param {LoggedEvent[]} batch */
  #body(batch) {
    const wall = Date.now();
    const last = batch[batch.length - 1];
    // The clock of an earlier page is gone; the wall clock tells what it would show now.
    const ms = this.clock?.now().ms ?? Math.max(last.ms, last.ms + wall - last.wall);
    return JSON.stringify({ page: this.address.page, sent_ms: ms, sent_wall_ms: wall, events: batch });
  }

  /**
   * Forget what the server has.
   *
   * @param {LoggedEvent[]} batch stored by the server, as its 200 says
   * @param {number} upto
   * @returns {boolean} whether the batch's first event is done, so that the next batch is another one
   */
  #stored(batch, upto) {
    const missing = this.#pending.some((event) => event.n === upto + 1);
    const stored = new Set(batch.map((event) => event.n));
    this.#forget((event) => event.n <= upto || (!missing && stored.has(event.n)));
    return !this.#pending.includes(batch[0]);
  }

  /** Find the malformed event by halves, so that it takes no other with it. @param {LoggedEvent[]} batch */
  #refused(batch) {
    this.#most = Math.ceil(batch.length / 2);
    if (batch.length > 1) return true;
    this.#forget((event) => event.n === batch[0].n);
    return false;
  }

  /** @param {(event: LoggedEvent) => boolean} done */
  #forget(done) {
    const numbers = this.#pending.filter(done).map((event) => event.n);
    this.#pending = this.#pending.filter((event) => !done(event));
    if (numbers.length) this.store.remove(this.address.page, numbers);
  }

  #waitLonger() {
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#notBefore = performance.now() + wait * (0.5 + Math.random() / 2);
  }
}
