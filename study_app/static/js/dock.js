/**
 * The bar with the answers, which stays at the lower edge of the window: how much of the window it covers.
 *
 * It lies still at its place in the page where it would cover too much, as with very large text, and in a frame of another
 * site: what such a frame hides of the page nobody here can know, so that the bar might be out of sight.
 */

const MOST = 0.5;

export class Dock {
  #covered = 0;
  /** @type {(() => void)[]} */
  #listeners = [];

  /** @param {HTMLElement} bar */
  constructor(bar) {
    this.bar = bar;
    addEventListener('resize', () => this.#measure());
    if ('ResizeObserver' in window) new ResizeObserver(() => this.#measure()).observe(bar);
    this.#measure();
  }

  /** @returns {number} CSS pixels at the lower edge of the window behind which nothing can be read */
  get covered() {
    return this.#covered;
  }

  /** @param {() => void} listener told when that changes */
  onChange(listener) {
    this.#listeners.push(listener);
  }

  #measure() {
    const height = Math.ceil(this.bar.getBoundingClientRect().height);
    this.bar.toggleAttribute('data-still', isInForeignFrame() || height > MOST * innerHeight);
    const covered = getComputedStyle(this.bar).position === 'sticky' ? height : 0;
    if (covered === this.#covered) return;
    this.#covered = covered;
    // What gets the focus, or is opened by a mark, is brought into sight above the bar.
    document.documentElement.style.scrollPaddingBottom = `${covered}px`;
    for (const listener of this.#listeners) listener();
  }
}

function isInForeignFrame() {
  return window.top !== window && window.frameElement === null;
}
