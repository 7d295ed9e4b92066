// Watches a stream of events and brings the parts of the page that are marked `data-live` up to date.
// Whoever comes back does so with the number of the last message, and misses nothing.
import { morph } from "/assets/morph.js";

const AT_MOST_EVERY = 700;
// How long to wait before trying again where the browser has given up, in milliseconds: longer each time.
const AGAIN = [2000, 4000, 8000, 15000, 30000];

export function live(url) {
  const sign = document.getElementById("live");
  let source, due = false, last = 0, timer, seen, tries = 0, again;
  const say = (text) => { if (sign && sign.textContent !== text) sign.textContent = text; };

  const refresh = async () => {
    due = false;
    last = Date.now();
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => undefined);
    // A page that answers for another one (such as the one to sign in) says nothing about this one.
    if (!answer?.ok || new URL(answer.url).pathname !== location.pathname) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const news = page.getElementById(part.id);
      if (news && news.innerHTML !== part.innerHTML) morph(part, news);
    }
    document.dispatchEvent(new CustomEvent("refreshed", { detail: page }));
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
  // Any answer that is no stream ends it for the browser: a server that starts, a session that is over.
  const given = async () => {
    const me = await fetch("/api/v1/me").catch(() => undefined);
    if (me?.status === 401) {
      if (!sign) return;
      const link = document.createElement("a");
      link.href = `/sign-in?next=${encodeURIComponent(location.pathname)}`;
      link.textContent = "sign in";
      sign.replaceChildren("signed out: ", link);
      return;
    }
    clearTimeout(again);
    again = setTimeout(() => { if (!document.hidden) { open(); soon(); } }, AGAIN[Math.min(tries++, AGAIN.length - 1)]);
  };
  const open = () => {
    source?.close();
    const from = new URL(url, location.href);
    if (seen) from.searchParams.set("after", seen);
    const stream = source = new EventSource(from);
    stream.onopen = () => {
      say("live");
      tries = 0;
      // What changed between the drawing of the page and this moment was told to nobody.
      if (!from.searchParams.has("after")) soon();
    };
    stream.onerror = () => {
      if (stream !== source) return;
      say("reconnecting");
      if (stream.readyState === EventSource.CLOSED) given();
    };
    const told = (then) => (event) => { if (event.lastEventId) seen = event.lastEventId; then(event); };
    for (const kind of ["journal", "progress", "plan", "notice"]) stream.addEventListener(kind, told(soon));
    stream.addEventListener("output", told(output));
  };
  open();
  // What goes on without a plan changing, such as a table that grows, is looked at again as long as the page says so.
  setInterval(() => { if (!document.hidden && document.querySelector("[data-poll]")) soon(); }, 2000);
  // A browser talks to a host over six connections: a window that nobody sees gives its own back, and catches up later.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { clearTimeout(again); source.close(); say("asleep"); }
    else if (source.readyState === EventSource.CLOSED) { open(); soon(); }
  });
  addEventListener("pagehide", () => { clearTimeout(timer); clearTimeout(again); source.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) { open(); soon(); } });
}
