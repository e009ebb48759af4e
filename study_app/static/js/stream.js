/**
 * A stream's page: marks an update as read once all of it was on the screen, and tells when the worker leaves by the
 * form. The mark is the box that the worker would tick without script, so the form carries it either way.
 */

export class Stream {
  /**
   * @param {Element} root the section with the updates
   * @param {import('./log.js').Log | undefined} log
   */
  constructor(root, log) {
    root.setAttribute('data-marked', 'by-script');
    root.closest('form')?.addEventListener('sending', () => log?.record('leave'));
  }

  /** @param {HTMLElement} update all of which is, or was, on the screen */
  mark(update) {
    const box = update.querySelector('input[name=read]');
    if (box instanceof HTMLInputElement) box.checked = true;
    update.dataset.read = '';
  }
}
