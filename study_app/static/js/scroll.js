/** How far down the page has been shown, at most once for each further twentieth. */

const STEP = 0.05;

export class Scroll {
  #deepest = 0;

  /**
   * @param {import('./log.js').Log} log
   * @param {import('./dock.js').Dock} [dock] the bar that covers the lower edge, if there is one
   */
  constructor(log, dock) {
    this.log = log;
    this.dock = dock;
    addEventListener('scroll', () => this.#look(), { passive: true });
    this.#look();
  }

  #look() {
    const covered = this.dock?.covered ?? 0;
    const shown = (scrollY + innerHeight - covered) / (document.documentElement.scrollHeight - covered);
    const depth = shown >= 0.995 ? 1 : Math.round(shown * 100) / 100;
    if (depth < Math.min(1, this.#deepest + STEP)) return;
    if (depth === this.#deepest) return;
    this.#deepest = depth;
    this.log.record('scroll', { depth });
  }
}
