// A page that is opened as a file may read no other: search names the pages that it finds, and cites none.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// Long commands and sentences are wrapped, so that nothing of them is cut; rows of tables keep their columns and scroll.
function wrapLongLines(block) {
  if (block.scrollWidth <= block.clientWidth) return;
  const lines = block.textContent.split("\n");
  const longest = Math.max(...lines.map((line) => line.length));
  const room = Math.floor((longest * block.clientWidth) / block.scrollWidth);
  const tooLong = lines.filter((line) => line.length > room);
  if (!tooLong.some((line) => /\S {3,}\S/.test(line))) block.classList.add("wraps");
}

// What the theme leaves out for people who use a keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll('.caption[role="heading"]')) caption.setAttribute("aria-level", "2");
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  for (const block of document.querySelectorAll("article pre, article .table-wrapper")) block.tabIndex = 0;
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) link.setAttribute("aria-label", link.textContent);
  for (const block of document.querySelectorAll("article pre")) wrapLongLines(block);
  for (const corner of document.querySelectorAll("table.dataframe th:empty")) corner.replaceWith(document.createElement("td"));
});
