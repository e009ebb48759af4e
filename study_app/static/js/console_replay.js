/**
 * The slider of a replay: takes the page in the frame through its moments without loading it again. What each moment changes
 * comes from the server; here the changes up to a moment are only added up and shown.
 */

/**
 * @typedef {object} Moment
 * @property {number} at milliseconds after the page was served
 * @property {string} words what happened
 * @property {Record<string, number>} [shown] "SIDE ITEM" -> share on the screen
 * @property {Record<string, boolean>} [open] "SIDE LINK" -> whether its layer is open
 * @property {string} [choice]
 * @property {[number, number]} [size] of the window
 */

/** @typedef {{moments: Moment[], spells: [number, number, string][], over: string}} Story */

class Replay {
  /** @param {HTMLElement} root @param {Story} story */
  constructor(root, story) {
    this.root = root;
    this.story = story;
    const slider = root.querySelector('input[type=range]');
    if (!(slider instanceof HTMLInputElement)) throw new Error('a replay without its slider');
    this.slider = slider;
    this.frame = root.querySelector('iframe');
    root.querySelector('.time button')?.remove();
    slider.addEventListener('input', () => this.show());
    this.frame?.addEventListener('load', () => {
      this.show();
      root.scrollIntoView(); // the page in the frame scrolled this one, too, to what was on the screen
    });
    addEventListener('resize', () => this.#fit());
    this.show();
    root.scrollIntoView();
  }

  show() {
    const at = Number(this.slider.value);
    const past = this.story.moments.filter((moment) => moment.at <= at);
    const state = this.story.spells.find(([from, to]) => from <= at && at < to)?.[2] ?? this.story.over;
    this.#say('[data-seconds]', (at / 1000).toFixed(1));
    this.#say('[data-state]', state);
    this.#say('[data-words]', past.at(-1)?.words ?? '');
    this.slider.setAttribute('aria-valuetext', `${(at / 1000).toFixed(1)} s, ${state}`);
    this.root.querySelector('.now')?.setAttribute('x', String((1000 * at) / Number(this.slider.max)));
    for (const link of document.querySelectorAll('a[data-at]')) {
      if (link.getAttribute('data-at') === String(past.at(-1)?.at)) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
    const size = past.findLast((moment) => moment.size)?.size;
    if (size) this.#resize(size);
    const page = this.frame?.contentDocument;
    if (page) this.#apply(page, past);
  }

  /** @param {string} where @param {string} text */
  #say(where, text) {
    const place = this.root.querySelector(where);
    if (place) place.textContent = text;
  }

  /** @param {[number, number]} size */
  #resize([width, height]) {
    if (!this.frame) return;
    this.frame.width = String(width);
    this.frame.height = String(height);
    this.#fit();
  }

  /** Shrink the window where the page of the console is narrower. */
  #fit() {
    const holder = this.frame?.parentElement;
    if (!this.frame || !holder) return;
    const scale = Math.min(1, holder.clientWidth / (Number(this.frame.width) + 4));
    this.frame.style.transformOrigin = '0 0';
    this.frame.style.transform = `scale(${scale})`;
    holder.style.height = `${scale * (Number(this.frame.height) + 4)}px`;
    holder.style.overflow = 'hidden';
    holder.scrollTo(0, 0);
  }

  /** @param {Document} page @param {Moment[]} past */
  #apply(page, past) {
    /** @type {Record<string, number>} */
    const shown = Object.assign({}, ...past.map((moment) => moment.shown));
    /** @type {Record<string, boolean>} */
    const open = Object.assign({}, ...past.map((moment) => moment.open));
    const read = new Set(past.flatMap(({ shown: some }) => Object.keys(some ?? {}).filter((one) => some?.[one] === 1)));
    const choice = past.findLast((moment) => moment.choice)?.choice;
    for (const item of page.querySelectorAll('[data-side] [data-item]')) {
      const name = nameOf(item);
      item.toggleAttribute('data-shown', Boolean(shown[name]));
      if (shown[name]) item.setAttribute('data-shown', String(shown[name]));
      if (item.localName === 'details') item.toggleAttribute('open', open[name] === true);
      if (name.startsWith('stream ') && read.has(name)) item.setAttribute('data-read', '');
    }
    if (choice) {
      for (const option of page.querySelectorAll('input[name=choice]')) {
        if ('checked' in option) option.checked = option.getAttribute('value') === choice;
      }
    }
    const y = screenTop(page, shown);
    if (y !== undefined) page.defaultView?.scrollTo({ top: y, behavior: 'instant' });
  }
}

/**
 * How far the page was scrolled, as far as the items tell. One that was on the screen in part stands across its upper or its lower
 * edge; one that was wholly on it, or not at all, says only between which places the edges were.
 *
 * @param {Document} page @param {Record<string, number>} shown
 */
function screenTop(page, shown) {
  const { scrollY = 0, innerHeight = 0 } = page.defaultView ?? {};
  const height = innerHeight - covered(page);
  const places = [...page.querySelectorAll('[data-side] [data-item]')];
  const items = places.filter((item) => !item.parentElement?.closest('details:not([open])')).map((item) => {
    const box = (item.querySelector(':scope > summary') ?? item).getBoundingClientRect();
    const share = shown[nameOf(item)] ?? 0;
    return { share, top: box.top + scrollY, bottom: box.bottom + scrollY, height: box.height };
  }).filter((item) => item.height > 0 && item.height <= height);
  const seen = items.filter(({ share }) => share > 0);
  if (!seen.length) return undefined;
  const middle = (Math.min(...seen.map(({ top }) => top)) + Math.max(...seen.map(({ bottom }) => bottom))) / 2;
  let [least, most] = [0, Infinity];
  for (const { share, top, bottom, ...item } of items) {
    const isAbove = (top + bottom) / 2 < middle;
    if (share > 0 && share < 1) return isAbove ? bottom - share * item.height : top + share * item.height - height;
    if (share === 1) [least, most] = [Math.max(least, bottom - height), Math.min(most, top)];
    else if (isAbove) least = Math.max(least, bottom);
    else most = Math.min(most, top - height);
  }
  return Math.min(least, most);
}

/** @param {Document} page @returns {number} how much of the window the bar with the answers covers at the lower edge */
function covered(page) {
  const bar = page.querySelector('[data-dock]');
  return bar && page.defaultView?.getComputedStyle(bar).position === 'sticky' ? bar.getBoundingClientRect().height : 0;
}

/** @param {Element} item @returns {string} as the moments name it */
function nameOf(item) {
  return `${item.closest('[data-side]')?.getAttribute('data-side')} ${item.getAttribute('data-item')}`;
}

/** @type {HTMLElement | null} */
const root = document.querySelector('[data-module=replay]');
if (root?.dataset.moments) {
  const answer = await fetch(root.dataset.moments);
  if (answer.ok) new Replay(root, await answer.json());
}
