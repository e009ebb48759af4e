/** Which layout is in force, from where the two summaries really stand. */

/** @typedef {'side_by_side' | 'stacked'} LayoutName */

export class Layout {
  #left;
  #right;
  #name;

  /**
   * @param {Element} root the pair page's main element
   * @param {import('./log.js').Log | undefined} log
   */
  constructor(root, log) {
    const [left, right] = root.querySelectorAll('section[data-side]');
    this.#left = left;
    this.#right = right;
    this.#name = this.#seen();
    const observer = new ResizeObserver(() => {
      const name = this.#seen();
      if (name === this.#name) return;
      this.#name = name;
      log?.record('layout', { layout: name });
    });
    observer.observe(left);
    observer.observe(right);
  }

  /** @returns {LayoutName} */
  get name() {
    return this.#name;
  }

  /** @returns {LayoutName} */
  #seen() {
    const left = this.#left.getBoundingClientRect();
    const right = this.#right.getBoundingClientRect();
    return left.right <= right.left + 1 ? 'side_by_side' : 'stacked';
  }
}
