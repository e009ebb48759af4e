/** The search page's countdown, by the monotonic clock, read out politely now and then; the server judges the time. */

const TICK_MS = 250;
/** Seconds left at which the countdown is read out, besides whole minutes. */
const SAID_AT = [30, 10, 0];

export class SearchTimer {
  #openedAt = performance.now();
  #title = document.title;
  #shown = Infinity;

  /** @param {HTMLElement} root with the seconds left, the wordings, the parts `time` and `said`, and the button */
  constructor(root) {
    this.root = root;
    this.seconds = Number(root.dataset.secondsLeft) || 0;
    this.time = root.querySelector('[data-part=time]');
    this.said = root.querySelector('[data-part=said]');
    this.button = root.querySelector('button');
    this.timer = setInterval(() => this.#tick(), TICK_MS);
    document.addEventListener('visibilitychange', () => this.#tick());
    this.#tick();
  }

  #tick() {
    const left = Math.max(0, Math.ceil(this.seconds - (performance.now() - this.#openedAt) / 1000));
    if (left === this.#shown) return;
    const before = this.#shown;
    this.#shown = left;
    this.#show(left);
    if (before < Infinity && isWorthSaying(before, left) && this.said) this.said.textContent = this.#wording(left);
    if (left === 0) clearInterval(this.timer);
  }

  /** Also in the title, for a worker who searches in another tab. @param {number} left seconds */
  #show(left) {
    if (this.button) this.button.disabled = left > 0;
    if (this.time) this.time.textContent = this.#wording(left);
    document.title = left ? `${clockFace(left)} · ${this.#title}` : this.#title;
  }

  /** @param {number} left seconds */
  #wording(left) {
    const { leftText = '{time}', readyText = '' } = this.root.dataset;
    return left ? leftText.replace('{time}', clockFace(left)) : readyText;
  }
}

/** @param {number} seconds */
function clockFace(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** @param {number} before @param {number} left seconds left at the last look and now; a look may come late */
function isWorthSaying(before, left) {
  const minutePassed = Math.ceil(before / 60) > Math.ceil(left / 60);
  return minutePassed || SAID_AT.some((seconds) => left <= seconds && seconds < before);
}
