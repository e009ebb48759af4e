/** Asks every few seconds whether there are newer figures and puts them in place; rests while nobody looks. */

const EVERY_MS = 5000;

/** @param {Element} part @param {string} words */
function say(part, words) {
  const state = part.querySelector('[data-live-state]');
  if (state) state.textContent = words;
}

/** Somebody reads a table that they opened, or stands in it with the keyboard: it must not go from under them.
 * @param {Element} part */
function isInUse(part) {
  return part.querySelector('details[open]') !== null || part.contains(document.activeElement);
}

/** @param {Element} part @returns {Promise<Element>} what stands there from now on */
async function renewed(part) {
  const shown = `W/"${part.getAttribute('data-live')}"`;
  const answer = await fetch(location.pathname, { cache: 'no-store', headers: { 'If-None-Match': shown } });
  if (answer.status === 304) return part;
  if (!answer.ok) {
    say(part, answer.status < 500 ? 'You are signed out: load the page again.' : 'The server does not answer.');
    if (answer.status < 500) throw new Error('signed out');
    return part;
  }
  const newer = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('[data-live]');
  if (!newer || isInUse(part)) return part;
  part.replaceWith(newer);
  say(newer, 'The page looks for newer figures every 5 seconds.');
  return newer;
}

async function follow() {
  let part = document.querySelector('[data-live]');
  if (!part) return;
  say(part, 'The page looks for newer figures every 5 seconds.');
  for (;;) {
    await new Promise((done) => setTimeout(done, EVERY_MS));
    if (document.hidden) {
      await new Promise((seen) => document.addEventListener('visibilitychange', seen, { once: true }));
    }
    try {
      part = await renewed(part);
    } catch (error) {
      if (error instanceof Error && error.message === 'signed out') return;
      say(part, 'The server does not answer.');
    }
  }
}

follow();
