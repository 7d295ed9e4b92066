// Makes a part of the page what the server says it is by now, and touches nothing else: what someone has typed, ticked, chosen
// or opened stays, and so does where they are. Things with a name are the same thing, wherever they have moved to: their id,
// or of a row of a table where it leads.
export function morph(old, fresh) {
  const here = document.activeElement;
  children(old, fresh);
  // Moving an element takes it from whoever is on it.
  if (here && here !== document.activeElement && old.contains(here)) here.focus({ preventScroll: true });
}

const name = (one) => one.id || (one.nodeName === "TR" && one.querySelector("a[href]")?.getAttribute("href")) || "";
const isSame = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && name(one) === name(other);

function children(old, fresh) {
  const names = new Set([...fresh.children].map(name).filter(Boolean));
  const known = new Map([...old.children].filter(name).map((one) => [name(one), one]));
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const found = known.get(name(wanted));
    if (found && found.nodeName === wanted.nodeName) {
      known.delete(name(wanted));
      // What stands before it goes if it is gone, and else behind it: so what is looked at is not what moves.
      while (at && at !== found) {
        const next = at.nextSibling;
        if (names.has(name(at))) old.insertBefore(at, found.nextSibling); else at.remove();
        at = next;
      }
      if (!at) old.append(found);
      node(found, wanted);
      at = found.nextSibling;
    } else if (at && isSame(at, wanted)) {
      node(at, wanted);
      at = at.nextSibling;
    } else {
      old.insertBefore(document.importNode(wanted, true), at);
    }
  }
  while (at) { const next = at.nextSibling; at.remove(); at = next; }
}

function node(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  // Whoever has opened or closed something did so; what a field says is the browser's, once someone has written in it.
  const isTheirs = (name) => name === "open" && old.nodeName === "DETAILS";
  for (const { name, value } of [...fresh.attributes])
    if (!isTheirs(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes])
    if (!isTheirs(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  children(old, fresh);
}
