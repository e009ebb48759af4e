/**
 * A form on its way to the server: sent by script, so that the page with the answer stays until the server has it.
 *
 * Where the server is away the page says so and sends again, every few seconds and by a button. What the server refuses is
 * sent once more by the browser itself, which shows the page that says why: the same form sent twice is stored once.
 */

import { answered } from './answered.js';

const AGAIN_MS = 5000;
const TIMEOUT_MS = 20_000;
/** The server, or what stands before it, cannot answer just now. */
const AWAY = 502;

export class Delivery {
  /** @type {HTMLElement | null} */
  #pressed = null;
  #busy = false;
  #handedOver = false;
  #asked = false;
  /** The answers that `sending` was last fired for. */
  #announced = '';
  #again = 0;
  /** @type {{answers: string, next: string} | undefined} what the server has, and where it leads */
  #stored;
  /** @type {HTMLElement | undefined} */
  #notice;

  /**
   * @param {HTMLFormElement} form fires `sending` before its fields are read, once for the same answers
   * @param {HTMLTemplateElement | null} notice what to say while the server is away, with a button
   * @param {() => void} onStored told once the server has it
   */
  constructor(form, notice, onStored) {
    this.form = form;
    this.notice = notice;
    this.onStored = onStored;
    form.addEventListener('submit', (event) => this.#submit(event));
    addEventListener('online', () => this.#notice && this.#send());
    addEventListener('pageshow', (event) => event.persisted && this.#begin());
  }

  /** The page came back: whatever was sent may be sent again. */
  #begin() {
    this.#stored = undefined;
    this.#announced = '';
  }

  /** Nothing is ever disabled: only the second half of a double click is held back. @param {SubmitEvent} event */
  #submit(event) {
    if (this.#handedOver || event.defaultPrevented) return;
    event.preventDefault();
    this.#pressed = event.submitter;
    const isRepeat = this.#stored?.answers === this.#answers;
    if (isRepeat && this.#stored) location.assign(this.#stored.next);
    if (isRepeat) return;
    this.#asked = this.#busy;
    this.#send();
  }

  get #answers() {
    const pressed = this.#pressed instanceof HTMLButtonElement ? this.#pressed.name : '';
    return JSON.stringify([pressed, answered(this.form)]);
  }

  /** Send what stands in the form, and go where the server says; another answer that was sent meanwhile follows. */
  async #send() {
    if (this.#busy) return;
    clearTimeout(this.#again);
    this.#busy = true;
    this.#asked = false;
    const answers = this.#answers;
    if (answers !== this.#announced) this.form.dispatchEvent(new CustomEvent('sending'));
    this.#announced = answers;
    const next = await this.#post();
    this.#busy = false;
    if (next === undefined) {
      this.#say(true);
      this.#again = setTimeout(() => this.#send(), AGAIN_MS);
      return;
    }
    this.#say(false);
    if (next === '') {
      this.#handOver();
    } else if (this.#asked && answers !== this.#answers) {
      this.#send();
    } else {
      this.#stored = { answers, next };
      this.onStored();
      location.assign(next);
    }
  }

  /** @returns {Promise<string | undefined>} the address of the next page, '' if there is none, undefined from no server */
  async #post() {
    const body = new URLSearchParams(/** @type {any} */ (new FormData(this.form)));
    if (this.#pressed instanceof HTMLButtonElement && this.#pressed.name) body.append(this.#pressed.name, this.#pressed.value);
    try {
      const answer = await fetch(this.form.action, {
        method: 'POST',
        headers: { Accept: 'application/json' },
        body,
        signal: AbortSignal.timeout?.(TIMEOUT_MS),
      });
      if (answer.status >= AWAY) return undefined;
      const isNext = answer.ok && answer.headers.get('Content-Type')?.startsWith('application/json');
      return isNext ? String((await answer.json()).next) : '';
    } catch {
      return undefined;
    }
  }

  /** Let the browser send the form, as it would without script. */
  #handOver() {
    this.#handedOver = true;
    if (this.form.requestSubmit) this.form.requestSubmit(this.#pressed);
    else this.form.submit();
    this.#handedOver = false;
  }

  /** @param {boolean} isAway */
  #say(isAway) {
    if (!isAway) this.#notice?.remove();
    if (!isAway) this.#notice = undefined;
    const wording = this.notice?.content.firstElementChild;
    if (!isAway || this.#notice || !wording) return;
    this.#notice = /** @type {HTMLElement} */ (wording.cloneNode(true));
    this.#notice.querySelector('button')?.addEventListener('click', () => this.#send());
    const button = this.form.querySelector('button');
    const dock = button?.closest('[data-dock]');
    if (dock) dock.prepend(this.#notice);
    else (button?.closest('.actions') ?? button)?.before(this.#notice);
    this.#notice.scrollIntoView({ block: 'nearest' });
  }
}
