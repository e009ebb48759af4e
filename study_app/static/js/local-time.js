/** A moment that the page gives in UTC, told in the worker's own time and way. */
export class LocalTime {
  /** @param {Element} time a `<time>` element */
  constructor(time) {
    const moment = new Date(time.getAttribute('datetime') ?? '');
    const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'long', timeStyle: 'short' });
    time.textContent = format.format(moment);
  }
}
