/** Marks such as [1] in an answer: a press opens the source below it, or closes it again, without leaving the place. */

export class Citations {
  /** @param {Element} root the pair page's main element */
  constructor(root) {
    root.addEventListener('click', (event) => {
      const mark = event.target instanceof Element && event.target.closest('a.cited');
      const source = mark && document.getElementById(mark.getAttribute('href')?.slice(1) ?? '')?.closest('details');
      if (!source) return;
      event.preventDefault();
      source.open = !source.open;
      if (source.open) source.scrollIntoView({ block: 'nearest' });
    });
  }
}
