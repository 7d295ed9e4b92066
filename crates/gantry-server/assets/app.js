// Keeps pages true while plans go on. Every page works without this; it only saves reloading.
import { live } from "/assets/live.js";
import { graph } from "/assets/graph.js";
import { talk } from "/assets/chat.js";

const main = document.querySelector("main");
if (main?.dataset.events) live(main.dataset.events);
document.querySelectorAll("svg.graph").forEach(graph);
document.querySelectorAll("form[data-talk]").forEach(talk);

// On a narrow screen the ways to other pages run out of it: where one is comes into sight, and nothing else moves.
document.querySelectorAll("nav [aria-current]").forEach((here) => {
  here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 40;
});

// Asks before what cannot be taken back.
document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// Says what is wrong with a plan file while it is written.
const file = document.querySelector("textarea[data-validate]");
if (file) {
  const found = document.getElementById("findings");
  let timer;
  const check = async () => {
    if (!file.value.trim()) { found.textContent = ""; return; }
    const answer = await fetch("/api/v1/plans/validate", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ file: file.value }),
    });
    const report = await answer.json();
    const lines = (report.errors ?? []).concat(report.warnings ?? []).map((one) =>
      `${one.line ? `line ${one.line}: ` : ""}${one.message}${one.hint ? ` (${one.hint})` : ""}`);
    found.textContent = report.ok ? [`Sound: ${report.tasks} tasks.`, ...lines].join("\n") : lines.join("\n") || report.detail;
    if (report.ok) await takes(file.value);
  };
  // What it would take, as soon as it is sound.
  const takes = async (text) => {
    const answer = await fetch("/api/v1/plans/estimate", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ file: text }),
    });
    if (!answer.ok || file.value !== text) return;
    const { at_most: most, work } = await answer.json();
    if (most.calls) found.append(`\nAt most ${most.calls} questions to models, ${most.tokens} tokens, ${most.cost_usd === null ? "at a price that is not known" : `$${most.cost_usd}`}.`);
    if (work) found.append(`\nDone about ${String(work.finish).slice(0, 10)}.`);
  };
  const upload = document.querySelector("input[data-into=file]");
  upload?.addEventListener("change", async () => {
    if (!upload.files[0]) return;
    file.value = await upload.files[0].text();
    upload.value = ""; // what is shown below counts from here on
    check();
  });
  file.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(check, 400); });
}

// The graph as it was after an entry of the journal.
const slider = document.querySelector("input[data-replay]");
if (slider) {
  const shown = document.getElementById("replay-at");
  let wanted = 0;
  slider.addEventListener("input", async () => {
    const at = Number(slider.value);
    wanted = at;
    shown.textContent = `after entry ${at}`;
    const answer = await fetch(`/api/v1/plans/${slider.dataset.replay}/state?at=${at}`);
    if (!answer.ok || wanted !== at) return;
    const { tasks, state } = await answer.json();
    shown.textContent = `after entry ${at}: ${state}`;
    document.querySelectorAll(".node").forEach((node) => {
      node.dataset.state = tasks[node.dataset.task]?.state ?? "absent";
    });
  });
  // Where it comes to rest the graph itself is the one of then: tasks that came or went later, and other lines.
  slider.addEventListener("change", async () => {
    const at = Number(slider.value);
    const answer = await fetch(`${location.pathname}?at=${at}`, { headers: { accept: "text/html" } });
    if (!answer.ok || wanted !== at) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const then = page.querySelector(".replayed");
    if (!then) return;
    document.querySelector(".replayed").replaceChildren(...then.childNodes);
    document.querySelectorAll(".replayed svg.graph").forEach(graph);
    document.getElementById("fork-at").value = at;
  });
}

// Shortcuts; a field that is being written in keeps its keys.
const help = document.getElementById("help");
const goes = { p: "/", b: "/bulk", c: "/chat", i: "/inbox", t: "/templates", m: "/models", s: "/settings" };
let went = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  if (went && goes[event.key]) { location.href = goes[event.key]; return; }
  went = event.key === "g";
  if (event.key === "n") location.href = "/new";
  if (event.key === "?") help?.showModal();
  if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) { event.preventDefault(); search.focus(); }
  }
});

// The picture stays where it was moved to; the colours of its boxes follow, and other boxes and lines only when there are some.
document.addEventListener("refreshed", ({ detail: page }) => {
  const states = document.getElementById("states");
  const drawn = document.querySelector("svg.graph");
  const names = (of) => [...of.querySelectorAll("[data-task]")].map((one) => one.dataset.task).join(" ");
  const fresh = page.querySelector("svg.graph");
  if (states && drawn && fresh && names(states) !== names(drawn)) {
    drawn.setAttribute("viewBox", fresh.getAttribute("viewBox"));
    drawn.replaceChildren(...fresh.childNodes);
    drawn.dispatchEvent(new Event("redrawn"));
  }
  document.querySelectorAll("#states [data-task]").forEach((one) => {
    const node = document.querySelector(`.node[data-task="${CSS.escape(one.dataset.task)}"]`);
    if (node) node.dataset.state = one.dataset.state;
  });
});
