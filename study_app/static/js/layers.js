/** Opening and closing of second layers. */

import { placeOf } from './place.js';

export class Layers {
  /**
   * @param {Element} root the pair page's main element
   * @param {import('./log.js').Log} log
   */
  constructor(root, log) {
    // `toggle` does not bubble.
    root.addEventListener('toggle', ({ target }) => {
      if (target instanceof HTMLDetailsElement && target.dataset.item) {
        log.record('layer', { ...placeOf(target), open: target.open });
      }
    }, { capture: true });
  }
}
