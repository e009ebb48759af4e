/** The form with lines to rate: the digits of the scale pick a rating and go on to the next line. */

export class Rate {
  /** @param {Element} root the rating page's main element */
  constructor(root) {
    const form = root.querySelector('fieldset.scale')?.closest('form');
    if (!form) throw new Error('a rating page without its form');
    this.lines = [...form.querySelectorAll('fieldset.scale')];
    form.addEventListener('keydown', (event) => this.#key(event));
  }

  /** While a line has the focus; elsewhere a digit stays what it is (WCAG 2.1.4). */
  #key(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !/^[0-9]$/.test(event.key)) return;
    const line = this.lines.findIndex((one) => event.target instanceof Node && one.contains(event.target));
    const option = this.lines[line]?.querySelector(`input[value="${event.key}"]`);
    if (!(option instanceof HTMLInputElement)) return;
    option.focus();
    option.click();
    this.#next(line);
  }

  /** @param {number} line the one that was just rated */
  #next(line) {
    const next = this.lines[line + 1] ?? this.lines[line]?.closest('form')?.querySelector('button');
    const target = next?.querySelector('input:checked') ?? next?.querySelector('input') ?? next;
    if (target instanceof HTMLElement) target.focus();
  }
}
