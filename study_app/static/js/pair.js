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
    form.addEventListener('change', (event) => this.#changed(event));
    form.addEventListener('keydown', (event) => this.#key(event));
    form.addEventListener('sending', () => this.#send());
    // The page came back: a decision begins anew.
    addEventListener('pageshow', (event) => event.persisted && (this.#openedAt = performance.now()));
  }

  get #choice() {
    return String(new FormData(this.form).get('choice') ?? '');
  }

  /** The log has the overall choice; what else is asked is in the answer alone. */
  #changed(/** @type {Event} */ { target }) {
    if (target instanceof HTMLInputElement && target.name === 'choice') {
      this.log?.record('choice', { choice: this.#choice });
    }
  }

  /** While a question has the focus, a digit picks an option of it; elsewhere it stays what it is (WCAG 2.1.4). */
  #key(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target instanceof HTMLTextAreaElement) return;
    const question = event.target instanceof Element ? event.target.closest('fieldset') : null;
    const options = (question ?? this.form.querySelector('fieldset'))?.querySelectorAll('input[type=radio]') ?? [];
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
