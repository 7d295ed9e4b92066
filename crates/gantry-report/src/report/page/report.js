(() => {
  "use strict";
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  for (const button of all("button[hidden]")) button.hidden = false;
  for (const bar of all("div.table > .bar")) {
    const tools = document.createElement("span");
    tools.className = "tools";
    for (const [how, name] of [["md", "Markdown"], ["csv", "CSV"]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.copy = how;
      button.textContent = `Copy as ${name}`;
      tools.append(button);
    }
    bar.append(tools);
  }
  // On a phone the contents would stand before the plan itself.
  const toc = document.querySelector(".contents details");
  if (toc && matchMedia("(max-width:60rem)").matches) toc.open = false;

  // The contents follow the reader.
  const links = new Map(all(".contents li a").map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target.id);
    const first = [...links.keys()].find((id) => seen.has(id));
    for (const [id, link] of links) {
      if (id === first) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-10% 0px -60% 0px" });
  for (const section of all("main > section[id]")) watcher.observe(section);

  // Rows and cards that have the words, and the sections that have them.
  const things = all("main tbody tr, main .card, main li");
  // Things are found by their ids, too, by which others name them.
  const texts = things.map((thing) => `${thing.textContent} ${thing.id.slice(2)}`.toLowerCase());
  let folds = null;
  const look = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    things.forEach((thing, at) => {
      const has = words.every((word) => texts[at].includes(word));
      thing.hidden = words.length > 0 && !has;
      if (has) count += 1;
    });
    for (const section of all("main > section")) {
      const own = all("tbody tr, .card, li", section);
      section.hidden = words.length > 0 && !own.some((thing) => !thing.hidden);
    }
    // What was found is not folded away; afterwards everything is as it was.
    const sections = all("main > section > details");
    if (words.length) {
      folds ??= sections.map((fold) => fold.open);
      for (const fold of sections) fold.open = true;
    } else if (folds) {
      sections.forEach((fold, at) => { fold.open = folds[at]; });
      folds = null;
    }
    found.textContent = words.length ? `${count} found` : "";
  };
  find.addEventListener("input", look);

  // Something that is named elsewhere is shown, even when it is folded away.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && (target.closest("details") || target.querySelector("details"));
    if (fold && !fold.open) { fold.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
  addEventListener("beforeprint", () => all("details").forEach((fold) => { fold.open = true; }));

  const plain = (cell) => (cell ? cell.textContent.trim().replace(/\s+/g, " ") : "");
  // A row has its first cell, and one for each column where something stands, also for those that stand below the first.
  const cells = (row, columns) => columns.map((column, at) => {
    const cell = at === 0 ? row.cells[0] : all("[data-c]", row).find((one) => one.dataset.c === column);
    return plain(cell && (cell.querySelector("b") || cell));
  });
  const csv = (text) => {
    const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.,]+$/.test(text) ? "'" + text : text;
    return /[",\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  const written = (table, how) => {
    const columns = table.dataset.columns.split("\t");
    const rows = [columns, ...all("tbody tr", table).filter((row) => !row.hidden).map((row) => cells(row, columns))];
    if (how === "csv") return rows.map((row) => row.map(csv).join(",")).join("\r\n");
    const lines = rows.map((row) => "| " + row.map((text) => text.replaceAll("|", "\\|")).join(" | ") + " |");
    lines.splice(1, 0, "|" + " --- |".repeat(rows[0].length));
    return lines.join("\n");
  };
  const copy = async (text) => {
    try { await navigator.clipboard.writeText(text); } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };

  const zoom = (chart, times) => {
    const svg = chart.querySelector("svg");
    const now = svg.getBoundingClientRect().width;
    const next = Math.min(Math.max(now * times, 480), 12000);
    const middle = (chart.scrollLeft + chart.clientWidth / 2) / now;
    svg.style.width = `${next}px`;
    chart.scrollLeft = middle * next - chart.clientWidth / 2;
  };
  const toggle = (figure) => {
    const button = figure.querySelector("[data-critical]");
    const on = figure.querySelector(".chart").classList.toggle("only");
    if (button) button.setAttribute("aria-pressed", String(on));
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const figure = button.closest("figure");
    if (button.dataset.copy) {
      const was = button.textContent;
      copy(written(button.closest(".table").querySelector("table"), button.dataset.copy)).then(() => {
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = was; }, 1200);
      });
    } else if (button.dataset.zoom) zoom(figure.querySelector(".chart"), button.dataset.zoom === "in" ? 1.4 : 1 / 1.4);
    else if ("critical" in button.dataset) toggle(figure);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const chart = event.target.closest && event.target.closest("[data-chart] .chart");
    if (event.target === find) {
      if (event.key === "Escape") { find.value = ""; look(); find.blur(); }
    } else if (event.key === "/") { event.preventDefault(); find.focus(); }
    else if (chart && (event.key === "+" || event.key === "=")) zoom(chart, 1.4);
    else if (chart && event.key === "-") zoom(chart, 1 / 1.4);
    else if (chart && event.key === "c") toggle(chart.closest("figure"));
  });
  for (const chart of all("[data-chart] .chart")) {
    chart.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(chart, event.deltaY < 0 ? 1.15 : 1 / 1.15);
    }, { passive: false });
  }
})();
