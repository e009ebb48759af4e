/** The page's two clocks side by side: a monotonic one for durations, a wall clock that shows when the machine slept. */

/** A larger step between the two clocks, in milliseconds, is sleep (or somebody set the wall clock). */
const SLEEP_MS = 2000;

export class Clock {
  #ahead = Clock.#wallAhead();

  static #wallAhead() {
    return Date.now() - performance.now();
  }

  /** @returns {{ms: number, wall: number}} both clocks now, in whole milliseconds */
  now() {
    return { ms: Math.round(performance.now()), wall: Date.now() };
  }

  /** @returns {number} milliseconds by which the wall clock stepped since the last call; 0 unless it was sleep */
  step() {
    const ahead = Clock.#wallAhead();
    const step = Math.round(ahead - this.#ahead);
    this.#ahead = ahead;
    return Math.abs(step) > SLEEP_MS ? step : 0;
  }
}
