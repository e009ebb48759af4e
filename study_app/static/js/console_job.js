// A job's page looks again by itself while the job is at work and somebody sees the page.

const SECONDS = 3;

async function look() {
  if (!document.hidden) {
    const answer = await fetch(location.pathname, { cache: "no-store" }).catch(() => null);
    if (answer?.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const news = page.getElementById("job");
      if (news !== null) {
        show(news);
      }
    }
  }
  if (document.getElementById("job").dataset.open === "yes") {
    setTimeout(look, SECONDS * 1000);
  }
}

function show(news) {
  const shown = document.getElementById("job");
  if (news.innerHTML !== shown.innerHTML) {
    shown.dataset.open = news.dataset.open;
    shown.replaceChildren(...news.childNodes);
  }
}

setTimeout(look, SECONDS * 1000);
