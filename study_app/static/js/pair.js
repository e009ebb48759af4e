/** The judgment form: tells the server how long the decision took, helps the keyboard, sends a double click once. */

const DOUBLE_CLICK_MS = 2000;

export class Pair {
  #openedAt = performance.now();
  /** @type {{choice: string, at: number} | undefined} what was sent last */
  #sent;

  /**
   * @param {Element} root the pair page's main element
   * @param {import('./log.js').Log | undefined} log
   * @param {import('./layout.js').Layout | undefined} layout
   */
  constructor(root, log, layout) {
    this.log = log;
    this.layout = layout;
    const form = root.querySelector('input[name=choice]')?.closest('form');
    if (!form) throw new Error('a pair page without its form');
    this.form = form;
    form.addEventListener('change', () => this.log?.record('choice', { choice: this.#choice }));
    form.addEventListener('keydown', (event) => this.#key(event));
    form.addEventListener('submit', (event) => this.#submit(event));
    addEventListener('pageshow', (event) => event.persisted && this.#again());
  }

  get #choice() {
    return String(new FormData(this.form).get('choice') ?? '');
  }

  /** The page came back: a decision begins anew, and whatever was sent may be sent again. */
  #again() {
    this.#openedAt = performance.now();
    this.#sent = undefined;
  }

  /** While the form has the focus, 1 to 4 pick an option; elsewhere a digit stays what it is (WCAG 2.1.4). */
  #key(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const options = this.form.querySelectorAll('input[name=choice]');
    const option = /^[1-9]$/.test(event.key) && options[Number(event.key) - 1];
    if (!(option instanceof HTMLInputElement)) return;
    option.focus();
    option.click();
  }

  /** Nothing is ever disabled: only the second half of a double click is held back. */
  #submit(/** @type {SubmitEvent} */ event) {
    const choice = this.#choice;
    const at = performance.now();
    if (this.#sent?.choice === choice && at - this.#sent.at < DOUBLE_CLICK_MS) {
      event.preventDefault();
      return;
    }
    this.#sent = { choice, at };
    this.#fill('decision_ms', String(Math.round(at - this.#openedAt)));
    this.#fill('layout', this.layout?.name ?? '');
    this.log?.record('submit', { choice });
  }

  /** @param {string} name @param {string} value */
  #fill(name, value) {
    const field = this.form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = value;
  }
}
