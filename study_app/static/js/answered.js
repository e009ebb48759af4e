/** What somebody answered in a form: its fields but the hidden ones, which the page fills in itself. */

/** @param {HTMLFormElement} form @returns {[string, string][]} */
export function answered(form) {
  return [...new FormData(form)].flatMap(([name, value]) => {
    const field = form.elements.namedItem(name);
    const hidden = field instanceof HTMLInputElement && field.type === 'hidden';
    return hidden || typeof value !== 'string' ? [] : [/** @type {[string, string]} */ ([name, value])];
  });
}
