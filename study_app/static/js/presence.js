/** Whether somebody can be reading: the page open, visible and in focus, and still alive every five seconds. */

const TICK_MS = 1000;
const BEAT_MS = 5000;

export class Presence {
  #closed = false;
  #focused = true;
  #beatAt = performance.now() + BEAT_MS;

  /**
   * @param {import('./log.js').Log} log
   * @param {() => Record<string, unknown>} describe what `open` says besides `restored`
   */
  constructor(log, describe) {
    this.log = log;
    this.describe = describe;
    this.#open(false);
    document.addEventListener('visibilitychange', () => this.#visibility());
    addEventListener('focus', () => this.#focus(true));
    addEventListener('blur', () => this.#focus(false));
    // A browser that forgot to give the focus gives it with the first touch.
    for (const touch of ['pointerdown', 'keydown']) addEventListener(touch, () => this.#touched(), { passive: true });
    addEventListener('pagehide', () => this.#close());
    addEventListener('pageshow', (event) => event.persisted && this.#open(true));
    setInterval(() => this.#tick(), TICK_MS);
  }

  /** @param {boolean} restored */
  #open(restored) {
    this.#closed = false;
    this.log.record('open', { ...this.describe(), restored });
    this.#visibility();
    this.#focus(document.hasFocus());
  }

  /** Everything after `close` belongs to the next page, or to this one when it comes back. */
  #close() {
    this.log.record('close');
    this.#closed = true;
    this.log.leave();
  }

  #visibility() {
    if (this.#closed) return;
    this.log.record(document.visibilityState === 'visible' ? 'visible' : 'hidden');
    if (document.visibilityState === 'hidden') this.log.leave();
  }

  /** @param {boolean} focused */
  #focus(focused) {
    if (this.#closed) return;
    this.#focused = focused;
    this.log.record(focused ? 'focus' : 'blur');
  }

  #touched() {
    if (!this.#focused) this.#focus(true);
  }

  #tick() {
    this.log.checkSleep();
    if (performance.now() < this.#beatAt) return;
    this.#beatAt = performance.now() + BEAT_MS;
    if (document.visibilityState === 'visible') this.log.record('beat');
  }
}
