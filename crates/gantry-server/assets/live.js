// Watches a stream of events and brings the parts of the page that are marked `data-live` up to date.
// The browser comes back by itself with the number of the last message, and misses nothing.
const AT_MOST_EVERY = 700;

export function live(url) {
  const sign = document.getElementById("live");
  let source, due = false, last = 0, timer;
  const say = (text) => { if (sign) sign.textContent = text; };

  const refresh = async () => {
    due = false;
    last = Date.now();
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const news = page.getElementById(part.id);
      // What someone is writing in, or has opened, stays as it is.
      const busy = part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
      if (!news || busy || news.innerHTML === part.innerHTML) continue;
      const open = [...part.querySelectorAll("details[open]")].map((one) => one.id);
      part.replaceChildren(...news.childNodes);
      open.forEach((id) => id && document.getElementById(id)?.setAttribute("open", ""));
    }
    document.dispatchEvent(new Event("refreshed"));
  };
  const soon = () => {
    if (due) return;
    due = true;
    timer = setTimeout(refresh, Math.max(50, AT_MOST_EVERY - (Date.now() - last)));
  };
  const output = (event) => {
    const { task, text } = JSON.parse(event.data);
    const log = document.querySelector(`pre[data-output="${CSS.escape(task)}"]`);
    if (!log) return;
    const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    log.append(text);
    while (log.childNodes.length > 2000) log.firstChild.remove();
    if (atEnd) log.scrollTop = log.scrollHeight;
  };
  const open = () => {
    source = new EventSource(url);
    source.onopen = () => say("live");
    source.onerror = () => say("reconnecting");
    for (const kind of ["journal", "progress", "plan", "notice"]) source.addEventListener(kind, soon);
    source.addEventListener("output", output);
  };
  open();
  // What goes on without a plan changing, such as a table that grows, is looked at again as long as the page says so.
  setInterval(() => { if (!document.hidden && document.querySelector("[data-poll]")) soon(); }, 2000);
  // A browser talks to a host over six connections: a window that nobody sees gives its own back, and catches up later.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { source.close(); say("asleep"); }
    else if (source.readyState === EventSource.CLOSED) { open(); soon(); }
  });
  addEventListener("pagehide", () => { clearTimeout(timer); source.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) { open(); soon(); } });
}
