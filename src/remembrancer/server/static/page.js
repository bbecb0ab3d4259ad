// What pages do beyond HTML: the palette, keys, the drawer, toasts that go, and quiet updates.
"use strict";

const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const drawer = find("#drawer");
const palette = find("#palette");
const keys = find("#keys");

all(".scripted").forEach((one) => { one.hidden = false; });

// Toasts say what was done for some seconds; while someone is at them, they stay.
all(".toast").forEach((toast) => {
  let left = Number(toast.dataset.seconds);
  const clock = setInterval(() => {
    if (toast.matches(":hover, :focus-within")) return;
    left -= 1;
    if (left <= 0) { clearInterval(clock); toast.remove(); }
  }, 1000);
});

// The drawer shows one memory beside the page; its address is the memory's own.
const home = location.href;

async function draw(href, push) {
  const address = new URL(href, location.href);
  const plain = address.pathname;
  address.searchParams.set("part", "drawer");
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) { location.assign(href); return; }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const content = page.body.childNodes;
  drawer.replaceChildren(...content);
  // Forms lead back to the page underneath, not to the bare drawer.
  all('input[name="back"]', drawer).forEach((field) => { field.value = plain; });
  drawer.hidden = false;
  document.body.classList.add("drawn");
  drawer.scrollTop = 0;
  drawer.focus();
  if (push) history.pushState({ drawer: href }, "", href);
}

function close() {
  drawer.hidden = true;
  drawer.replaceChildren();
  document.body.classList.remove("drawn");
  if (opener && opener.isConnected) opener.focus();
}

let opener = null;

document.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  if (event.target.closest("[data-close]")) {
    if (history.state && history.state.drawer) history.back(); else close();
    return;
  }
  const shows = event.target.closest("[data-shows]");
  if (shows) { open(shows.dataset.shows); return; }
  const link = event.target.closest("a[data-open]");
  if (!link || innerWidth <= 720 || find("main .detail")) return;
  event.preventDefault();
  if (!drawer.contains(link)) opener = link;
  draw(link.getAttribute("href"), true);
});

addEventListener("popstate", (event) => {
  if (event.state && event.state.drawer) draw(event.state.drawer, false);
  else if (location.href === home) close();
  else location.reload();
});

// The palette.
let asked = 0;
let waiting = 0;

function open(name) {
  if (name === "keys") { keys.showModal(); return; }
  palette.showModal();
  const words = find("input", palette);
  words.select();
  look();
}

async function look() {
  const words = find("input", palette).value.trim();
  const number = ++asked;
  const answer = await fetch(`/palette.json?q=${encodeURIComponent(words)}`);
  if (!answer.ok || number !== asked) return;
  const { items } = await answer.json();
  const list = find("ul", palette);
  list.replaceChildren(...items.map((item, place) => {
    const entry = document.createElement("li");
    const kind = document.createElement("span");
    const name = document.createElement("span");
    entry.id = `found-${place}`;
    entry.setAttribute("role", "option");
    entry.item = item;
    kind.className = "badge";
    kind.textContent = item.kind;
    name.className = "said";
    name.textContent = item.name;
    entry.append(kind, name);
    return entry;
  }));
  select(0);
}

function select(place) {
  const entries = all("li", palette);
  const words = find("input", palette);
  const chosen = Math.max(0, Math.min(place, entries.length - 1));
  entries.forEach((one, number) => one.setAttribute("aria-selected", String(number === chosen)));
  if (!entries.length) { words.removeAttribute("aria-activedescendant"); return; }
  words.setAttribute("aria-activedescendant", entries[chosen].id);
  entries[chosen].scrollIntoView({ block: "nearest" });
}

const selected = () => all("li", palette).findIndex((one) => one.ariaSelected === "true");

if (palette) {
  find("input", palette).addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 120);
  });
  palette.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") select(selected() + 1);
    else if (event.key === "ArrowUp") select(selected() - 1);
    else if (event.key === "Enter") go(all("li", palette)[selected()]);
    else return;
    event.preventDefault();
  });
  find("ul", palette).addEventListener("click", (event) => go(event.target.closest("li")));
}

function go(entry) {
  if (!entry) return;
  if (!entry.item.post) { location.assign(entry.item.href); return; }
  const form = find("#palette-do");
  form.action = entry.item.post;
  for (const [name, value] of Object.entries(entry.item.fields)) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    field.value = value;
    form.append(field);
  }
  form.submit();
}

// Keys.
const typing = (target) => target.closest("input, textarea, select, [contenteditable]");

function current() {
  const within = document.activeElement.closest("[data-card]");
  return within || find(".detail", drawer) || find("main .detail");
}

function move(by) {
  const cards = all("main [data-card]").filter((one) => find("a", one));
  const place = cards.indexOf(document.activeElement.closest("[data-card]"));
  const next = cards[Math.max(0, Math.min(cards.length - 1, place + by))];
  if (next) find("a", next).focus();
}

function press(key) {
  const target = key === "u" ? find(".toast [data-key]") : current() && find(`[data-key="${key}"]`, current());
  if (target) target.click();
  if (target && key === "e") { const words = find("textarea", current()); if (words) words.focus(); }
}

document.addEventListener("keydown", (event) => {
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    open("palette");
    return;
  }
  if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target) || find("dialog[open]")) return;
  if (event.key === "/") { event.preventDefault(); open("palette"); }
  else if (event.key === "?") open("keys");
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "Escape" && !drawer.hidden) find("[data-close]", drawer).click();
  else if ("ecfu".includes(event.key)) { event.preventDefault(); press(event.key); }
});

// Quiet updates: when something has happened, what is live on this page is fetched anew.
if (find("[data-counting]")) setTimeout(() => location.reload(), 3000);
const live = all("[data-live]");
let latest = null;

async function refresh() {
  if (document.hidden || find("dialog[open]")) return;
  const answer = await fetch("/live.json");
  if (!answer.ok) return;
  const { latest: now } = await answer.json();
  if (latest !== null && now !== latest) {
    const page = await fetch(home, { headers: { Accept: "text/html" } });
    if (!page.ok) return;
    const fresh = new DOMParser().parseFromString(await page.text(), "text/html");
    live.forEach((one) => {
      const same = find(`[data-live="${one.dataset.live}"]`, fresh);
      if (same && !one.contains(document.activeElement)) one.replaceChildren(...same.childNodes);
    });
  }
  latest = now;
}

if (live.length) { refresh(); setInterval(refresh, Number(document.body.dataset.seconds || 10) * 1000); }
