/** How far down the page has been shown, at most once for each further twentieth. */

const STEP = 0.05;

export class Scroll {
  #deepest = 0;

  /** @param {import('./log.js').Log} log */
  constructor(log) {
    this.log = log;
    addEventListener('scroll', () => this.#look(), { passive: true });
    this.#look();
  }

  #look() {
    const shown = (scrollY + innerHeight) / document.documentElement.scrollHeight;
    const depth = shown >= 0.995 ? 1 : Math.round(shown * 100) / 100;
    if (depth < Math.min(1, this.#deepest + STEP)) return;
    if (depth === this.#deepest) return;
    this.#deepest = depth;
    this.log.record('scroll', { depth });
  }
}
