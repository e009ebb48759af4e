/**
 * Lets time pass in the preview's copies, then loads its frames again where they are. Pages of workers never load this.
 */

/** @param {HTMLFormElement} form */
async function pass(form) {
  await fetch(form.action, { method: 'POST' });
  for (const frame of document.querySelectorAll('iframe')) {
    frame.contentWindow?.location.reload();
  }
}

for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void pass(form);
  });
}
