// Pan by dragging, zoom with the wheel, two fingers or + and -; 0 shows everything. What is read at the beginning is where
// the plan stands: whoever wants to see all of a large one goes back from there.
export function graph(svg) {
  const all = { x: 0, y: 0, w: 1, h: 1 };
  const view = { ...all };
  const room = () => svg.getBoundingClientRect();
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  const measure = () => {
    const whole = svg.viewBox.baseVal;
    Object.assign(all, { x: whole.x, y: whole.y, w: whole.width, h: whole.height });
  };
  // Room of this width, around a point of the picture.
  const around = (x, y, w) => {
    const { width, height } = room();
    view.w = w; view.h = w * (height / width);
    view.x = x - view.w / 2; view.y = y - view.h / 2;
    show();
  };
  const widthOfAll = () => { const { width, height } = room(); return Math.max(all.w, all.h * (width / height)); };
  const whole = () => around(all.x + all.w / 2, all.y + all.h / 2, widthOfAll());
  // Boxes stay readable: no more than the window has room for is shown, around what runs or waits, or where it begins.
  const begin = () => {
    const { width } = room();
    const w = width * 1.15;
    if (widthOfAll() <= w) { around(all.x + all.w / 2, all.y + all.h / 2, Math.max(all.w, w)); return; }
    const boxes = [...svg.querySelectorAll(".node")];
    const there = boxes.find((one) => ["running", "waiting"].includes(one.dataset.state));
    const first = boxes.map((one) => one.querySelector("rect")).sort((a, b) => a.x.baseVal.value - b.x.baseVal.value);
    const left = first.filter((one) => one.x.baseVal.value === first[0].x.baseVal.value).sort((a, b) => a.y.baseVal.value - b.y.baseVal.value);
    const box = there?.querySelector("rect") ?? left[Math.floor(left.length / 2)];
    if (!box) { whole(); return; }
    const [x, y] = [box.x.baseVal.value, box.y.baseVal.value + box.height.baseVal.value / 2];
    around(there ? x + box.width.baseVal.value / 2 : x - 12 + w / 2, y, w);
  };
  const zoom = (by, px = .5, py = .5) => {
    const w = Math.min(Math.max(view.w * by, 120), Math.max(widthOfAll() * 1.2, 1200));
    const h = view.h * (w / view.w);
    view.x += (view.w - w) * px;
    view.y += (view.h - h) * py;
    view.w = w; view.h = h;
    show();
  };
  const zoomAt = (by, at) => { const { left, top, width, height } = room(); zoom(by, (at[0] - left) / width, (at[1] - top) / height); };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(event.deltaY > 0 ? 1.15 : 1 / 1.15, [event.clientX, event.clientY]);
  }, { passive: false });
  // Fingers, or the mouse: one moves the picture, two also zoom it, each by how their middle and their distance change.
  const fingers = new Map();
  let moved = 0;
  const hand = () => {
    const at = [...fingers.values()].slice(0, 2);
    const middle = [0, 1].map((axis) => at.reduce((sum, one) => sum + one[axis], 0) / at.length);
    return { middle, apart: at.length > 1 ? Math.hypot(at[0][0] - at[1][0], at[0][1] - at[1][1]) : 0 };
  };
  svg.addEventListener("pointerdown", (event) => {
    if (!fingers.size) moved = 0;
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = hand();
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const now = hand();
    const scale = view.w / room().width;
    const [dx, dy] = [now.middle[0] - before.middle[0], now.middle[1] - before.middle[1]];
    moved += Math.abs(dx) + Math.abs(dy) + Math.abs(now.apart - before.apart);
    view.x -= dx * scale; view.y -= dy * scale;
    if (now.apart > 8 && before.apart > 8) zoomAt(before.apart / now.apart, now.middle); else show();
  });
  const leave = (event) => fingers.delete(event.pointerId);
  addEventListener("pointerup", leave);
  addEventListener("pointercancel", leave);
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  // Letting go after dragging is no click on a box; a key is one.
  svg.addEventListener("click", (event) => { if (moved > 6 && event.detail) event.preventDefault(); }, true);
  const ways = { in: () => zoom(1 / 1.4), out: () => zoom(1.4), all: whole };
  svg.addEventListener("keydown", (event) => {
    const step = view.w / 8;
    const keys = { "+": () => zoom(1 / 1.2), "-": () => zoom(1.2), 0: whole, ArrowLeft: () => { view.x -= step; show(); }, ArrowRight: () => { view.x += step; show(); }, ArrowUp: () => { view.y -= step; show(); }, ArrowDown: () => { view.y += step; show(); } };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  const buttons = svg.parentElement.querySelector(".zoom");
  if (buttons) {
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => ways[event.target.dataset.zoom]?.());
  }
  // Other boxes and lines came: the picture stays where it was moved to.
  svg.addEventListener("redrawn", () => { measure(); show(); });
  measure();
  begin();
}
