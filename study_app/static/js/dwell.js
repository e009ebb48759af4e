/**
 * What stands on the screen: the share of every item that is in the viewport, whenever it crosses a quarter.
 *
 * An item taller than the viewport can never be seen whole; its share is pixels seen over pixels of the viewport. What lies
 * behind the bar with the answers is not seen: the viewport ends where the bar begins.
 * Of a link the line that can be clicked counts: what opens below it are items of their own. A picture, sound or film is seen once it
 * has loaded: of the latter two, once there is something to play.
 */

import { placeOf } from './place.js';

/** An item that lacks a fraction of a pixel is shown whole. */
const WHOLE = 0.995;
/** An item that just touches the edge counts as intersecting: only the second threshold tells that it came in. */
const THRESHOLDS = [0, 0.01, 0.25, 0.5, 0.75, WHOLE];
/** A step that no report has: the next report is a change whatever it says. */
const UNTOLD = -1;

export class Dwell {
  /** @type {Map<Element, HTMLElement>} what is watched -> the item it stands for */
  #items = new Map();
  /** @type {Map<Element, number>} how many thresholds were passed at the last report */
  #reported = new Map();
  /** @type {IntersectionObserver[]} */
  #observers = [];
  #planned = 0;

  /**
   * @param {Element} root the element with the items
   * @param {import('./log.js').Log} log
   * @param {import('./dock.js').Dock} [dock] the bar, if there is one
   * @param {(item: HTMLElement) => void} [onWhole] told of each item that is wholly on the screen
   */
  constructor(root, log, dock, onWhole) {
    this.log = log;
    this.dock = dock;
    this.onWhole = onWhole;
    for (const item of root.querySelectorAll('[data-item]')) {
      if (item instanceof HTMLElement) this.#items.set(item.querySelector(':scope > summary') ?? item, item);
    }
    addEventListener('resize', () => this.#plan());
    dock?.onChange(() => this.#plan());
    // Neither bubbles.
    for (const change of ['toggle', 'load', 'loadeddata']) root.addEventListener(change, () => this.#plan(), { capture: true });
    addEventListener('pageshow', (event) => event.persisted && this.#tellAgain());
    this.#watch();
  }

  /** The page came back: tell again what became of everything that was on screen. */
  #tellAgain() {
    for (const [watched, step] of this.#reported) if (step) this.#reported.set(watched, UNTOLD);
    this.#watch();
  }

  /** Sizes changed: watch anew with the next frame, once for a whole run of changes. */
  #plan() {
    cancelAnimationFrame(this.#planned);
    this.#planned = requestAnimationFrame(() => this.#watch());
  }

  /** Watch every item at its quarters; a watch begins by telling how things stand. */
  #watch() {
    for (const observer of this.#observers) observer.disconnect();
    /** @type {Map<number, IntersectionObserver>} largest share of its height that an item can show -> its observer */
    const observers = new Map();
    for (const watched of this.#items.keys()) {
      const most = Math.min(1, this.#height / (watched.getBoundingClientRect().height || 1));
      const observer = observers.get(most) ?? this.#observer(most);
      observers.set(most, observer);
      observer.observe(watched);
    }
    this.#observers = [...observers.values()];
  }

  /** The height of the viewport above the bar. */
  get #height() {
    return innerHeight - (this.dock?.covered ?? 0);
  }

  /** @param {number} most */
  #observer(most) {
    const threshold = THRESHOLDS.map((share) => share * most);
    const rootMargin = `0px 0px -${this.dock?.covered ?? 0}px 0px`;
    return new IntersectionObserver((entries) => entries.forEach((entry) => this.#report(entry)), { threshold, rootMargin });
  }

  /** @param {IntersectionObserverEntry} entry */
  #report(entry) {
    const item = this.#items.get(entry.target);
    if (!item) return;
    const isThere = entry.isIntersecting && !inClosedLayer(entry.target) && hasLoaded(entry.target);
    const share = isThere ? shareShown(entry, this.#height) : 0;
    const step = share && THRESHOLDS.filter((threshold) => share >= threshold).length;
    if (step === (this.#reported.get(entry.target) ?? 0)) return;
    this.#reported.set(entry.target, step);
    this.log.record('see', { ...placeOf(item), share });
    if (share === 1) this.onWhole?.(item);
  }
}

/** @param {Element} watched */
function inClosedLayer(watched) {
  const details = watched.closest('details');
  return details !== null && !details.open && watched.parentElement !== details;
}

/** @param {Element} watched @returns {boolean} whether it has all of its pictures, and the beginning of its sounds and films */
function hasLoaded(watched) {
  const pictures = [...watched.querySelectorAll('img')];
  const played = [...watched.querySelectorAll('audio, video')];
  return (
    pictures.every((picture) => picture.complete && picture.naturalWidth > 0) &&
    played.every((media) => media instanceof HTMLMediaElement && media.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA)
  );
}

/**
 * @param {IntersectionObserverEntry} entry
 * @param {number} height of the viewport
 * @returns {number} to the hundredth, 0 only for nothing at all
 */
function shareShown({ intersectionRect, boundingClientRect, rootBounds }, height) {
  if (!intersectionRect.height) return 0;
  const share = intersectionRect.height / Math.min(boundingClientRect.height, rootBounds?.height ?? height);
  return share >= WHOLE ? 1 : Math.max(0.01, Math.floor(share * 100) / 100);
}
