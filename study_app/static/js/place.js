/**
 * The place of an element of a summary, in the words of the page; which system wrote it only the server knows.
 *
 * @param {HTMLElement} element with a key in `data-item`
 * @returns {{side: string, item: string}}
 */
export function placeOf(element) {
  const section = element.closest('section[data-side]');
  return { side: section?.getAttribute('data-side') ?? '', item: element.dataset.item ?? '' };
}
