/** The judgment form: tells the server how long the decision took, and helps the keyboard. */

export class Pair {
  #openedAt = performance.now();

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
    form.addEventListener('sending', () => this.#send());
    // The page came back: a decision begins anew.
    addEventListener('pageshow', (event) => event.persisted && (this.#openedAt = performance.now()));
  }

  get #choice() {
    return String(new FormData(this.form).get('choice') ?? '');
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

  #send() {
    this.#fill('decision_ms', String(Math.round(performance.now() - this.#openedAt)));
    this.#fill('layout', this.layout?.name ?? '');
    this.log?.record('submit', { choice: this.#choice });
  }

  /** @param {string} name @param {string} value */
  #fill(name, value) {
    const field = this.form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = value;
  }
}
