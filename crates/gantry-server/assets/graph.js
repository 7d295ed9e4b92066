// Pan by dragging, zoom with the wheel or + and -; 0 shows everything.
export function graph(svg) {
  const whole = svg.viewBox.baseVal;
  const all = { x: whole.x, y: whole.y, w: whole.width, h: whole.height };
  const view = { ...all };
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  // Boxes stay readable at the beginning: no more than the width of the window is shown.
  const fit = () => {
    const room = svg.getBoundingClientRect();
    Object.assign(view, all);
    view.w = Math.min(all.w, room.width * 1.15);
    view.h = view.w * (room.height / room.width);
    view.y = all.h < view.h ? (all.h - view.h) / 2 : 0;
    show();
  };
  const zoom = (by, px = .5, py = .5) => {
    const w = Math.min(Math.max(view.w * by, 120), Math.max(all.w * 3, 1200));
    const h = view.h * (w / view.w);
    view.x += (view.w - w) * px;
    view.y += (view.h - h) * py;
    view.w = w; view.h = h;
    show();
  };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const room = svg.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, (event.clientX - room.left) / room.width, (event.clientY - room.top) / room.height);
  }, { passive: false });
  let from, moved = 0;
  svg.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; moved = 0; });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const scale = view.w / svg.getBoundingClientRect().width;
    const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
    moved += Math.abs(dx) + Math.abs(dy);
    view.x -= dx * scale; view.y -= dy * scale;
    from = [event.clientX, event.clientY];
    show();
  });
  addEventListener("pointerup", () => { from = undefined; });
  // Letting go after dragging is no click on a box.
  svg.addEventListener("click", (event) => { if (moved > 6) event.preventDefault(); }, true);
  svg.addEventListener("keydown", (event) => {
    const step = view.w / 8;
    const keys = { "+": () => zoom(1 / 1.2), "-": () => zoom(1.2), 0: fit, ArrowLeft: () => { view.x -= step; show(); }, ArrowRight: () => { view.x += step; show(); }, ArrowUp: () => { view.y -= step; show(); }, ArrowDown: () => { view.y += step; show(); } };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  fit();
}
