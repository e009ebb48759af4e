/** What was answered in a form and not sent yet, kept in this tab: a page that is loaded again has it once more. */

import { answered } from './answered.js';

export class Draft {
  #key = `prefcal ${location.pathname}`;

  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form;
    this.#restore();
    for (const kind of ['change', 'input']) form.addEventListener(kind, () => this.#keep());
  }

  /** Forget it: the server has it. */
  drop() {
    sessionStorage.removeItem(this.#key);
  }

  #keep() {
    sessionStorage.setItem(this.#key, JSON.stringify(answered(this.form)));
  }

  #restore() {
    const kept = sessionStorage.getItem(this.#key);
    if (kept === null) return;
    /** @type {[string, string][]} */
    const answers = JSON.parse(kept);
    for (const field of this.form.elements) {
      if (field instanceof HTMLTextAreaElement) field.value = valueOf(answers, field.name) ?? field.value;
      if (!(field instanceof HTMLInputElement) || field.type === 'hidden') continue;
      if (['checkbox', 'radio'].includes(field.type)) {
        field.checked = answers.some(([name, value]) => name === field.name && value === field.value);
      } else {
        field.value = valueOf(answers, field.name) ?? field.value;
      }
    }
  }
}

/** @param {[string, string][]} answers @param {string} wanted */
function valueOf(answers, wanted) {
  return answers.find(([name]) => name === wanted)?.[1];
}
