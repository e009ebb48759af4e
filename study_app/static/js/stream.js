/**
 * A stream's page: marks an update as read once all of it was on the screen, and tells when the worker leaves by the
 * form. The mark is the box that the worker would tick without script, so the form carries it either way.
 */

const DOUBLE_CLICK_MS = 2000;

export class Stream {
  /** When the form was sent last. */
  #sentAt = -Infinity;

  /**
   * @param {Element} root the section with the updates
   * @param {import('./log.js').Log | undefined} log
   */
  constructor(root, log) {
    this.root = root;
    this.log = log;
    root.setAttribute('data-marked', 'by-script');
    root.closest('form')?.addEventListener('submit', (event) => this.#submit(event));
    addEventListener('pageshow', (event) => event.persisted && (this.#sentAt = -Infinity));
  }

  /** @param {HTMLElement} update all of which is, or was, on the screen */
  mark(update) {
    const box = update.querySelector('input[name=read]');
    if (box instanceof HTMLInputElement) box.checked = true;
    update.dataset.read = '';
  }

  /** Nothing is ever disabled: only the second half of a double click is held back. */
  #submit(/** @type {SubmitEvent} */ event) {
    if (performance.now() - this.#sentAt < DOUBLE_CLICK_MS) {
      event.preventDefault();
      return;
    }
    this.#sentAt = performance.now();
    this.log?.record('leave');
  }
}
