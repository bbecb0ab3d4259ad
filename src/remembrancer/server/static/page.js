// The page script: search palette, keyboard shortcuts, drawer, chat, toasts and live updates.
"use strict";

const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const drawer = find("#drawer");
const palette = find("#palette");
const keys = find("#keys");

// Without a zone of the user's own, the pages show times in that of the browser.
document.cookie = `rem_zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=strict`;

all(".scripted").forEach((one) => { one.hidden = false; });

// Toasts disappear after some seconds, unless the pointer or the focus is on them.
all(".toast").forEach((toast) => {
  let left = Number(toast.dataset.seconds);
  const clock = setInterval(() => {
    if (toast.matches(":hover, :focus-within")) return;
    left -= 1;
    if (left <= 0) { clearInterval(clock); toast.remove(); }
  }, 1000);
});

// The drawer shows one memory beside the page, under the URL of that memory.
let home = location.href;

async function draw(href, push) {
  const address = new URL(href, location.href);
  const plain = address.pathname;
  address.searchParams.set("part", "drawer");
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) { location.assign(href); return; }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const content = page.body.childNodes;
  drawer.replaceChildren(...content);
  // Forms redirect to the memory's page, not to the bare drawer.
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
  const items = startsChat(words, (await answer.json()).items);
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

// While chatting, a new chat comes first.
function startsChat(words, items) {
  const link = find("a[data-new]");
  if (!link || !"new chat".includes(words.toLowerCase())) return items;
  const item = { kind: "page", name: "New chat", href: link.getAttribute("href") };
  return [item, ...items.filter((one) => one.name !== item.name)];
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

// Keyboard shortcuts.
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
  const undo = () => find(".toast [data-key]") || all(".change [data-key]").pop();
  const target = key === "u" ? undo() : current() && find(`[data-key="${key}"]`, current());
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

// Live updates: after a new event, the live parts of this page are fetched again.
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

// The browser stores the id and the agent of the open conversation, never its content.
const root = document.body.dataset.root;
const chat = find("#chat");

if (chat && !chat.dataset.begun) localStorage.removeItem("rem_session");
if (chat && chat.dataset.begun) keep();
const kept = localStorage.getItem("rem_session");
if (kept) all('nav a[href="/chat"]').forEach((one) => { one.href = `${localStorage.getItem("rem_space") || ""}/chat/${encodeURIComponent(kept)}`; });

function keep() {
  // Only generated ids reveal nothing.
  if (!chat.dataset.session.startsWith("session_")) return;
  localStorage.setItem("rem_session", chat.dataset.session);
  localStorage.setItem("rem_space", root);
}

// Forms that are sent without leaving the page, then replaced by their result.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.quietly) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
  const done = make("span", "quiet", answer && answer.type === "opaqueredirect" ? form.dataset.quietly : "That did not work. Reload the page.");
  const focused = form.contains(document.activeElement);
  form.replaceWith(done);
  if (focused) words.focus();
});

// The chat streams answers. Leaving the page closes the session, so that it is learned from.
const composer = find("#say");
const words = find("#words");
let fresh = false;
let answering = null;

function make(name, kind, text) {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = text;
  return made;
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body.childNodes;
}

function toEnd() { scrollTo(0, document.documentElement.scrollHeight); }

function fit() {
  words.style.height = "auto";
  words.style.height = `${Math.min(words.scrollHeight + 2, innerHeight / 3)}px`;
}

async function* linesOf(stream) {
  const decoder = new TextDecoder();
  let rest = "";
  for (const reader = stream.getReader(); ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = parts.pop();
    for (const part of parts) yield JSON.parse(part);
  }
}

function take(line, entry) {
  const near = innerHeight + scrollY > document.documentElement.scrollHeight - 120;
  if (line.text) { entry.classList.remove("waiting"); find(".words", entry).textContent += line.text; }
  if (line.change) entry.append(...parsed(line.change));
  if (line.notice) entry.before(make("li", "notice", line.notice));
  if (line.go) { location.assign(line.go); return; }
  if ("message" in line) whole(line, entry);
  if (near) toEnd();
}

function whole(line, entry) {
  if (line.message) entry.replaceWith(...parsed(line.message)); else entry.remove();
  find("[data-beside]").replaceChildren(...parsed(line.beside));
  if (line.title) { find("h1").textContent = line.title; document.title = `${line.title} · Remembrancer`; }
}

// A model names the conversation after its first exchange.
async function rename() {
  const answer = await fetch(home, { headers: { Accept: "text/html" } });
  if (!answer.ok || answering) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  find("[data-beside]").replaceChildren(...find("[data-beside]", page).childNodes);
  find("h1").textContent = find("h1", page).textContent;
  document.title = page.title;
}

function begin() {
  if (chat.dataset.begun) return;
  setTimeout(rename, 6000);
  history.replaceState(null, "", composer.action);
  home = location.href;
  chat.dataset.begun = "yes";
  keep();
}

async function say() {
  const text = words.value.trim();
  if (!text || answering) return;
  const body = new URLSearchParams(new FormData(composer));
  const own = make("li", "own", "");
  const entry = make("li", "other waiting", "");
  own.append(make("p", "words", text));
  entry.append(make("p", "words", ""));
  find(".messages").append(own, entry);
  find(".hello")?.remove();
  words.value = "";
  fit();
  toEnd();
  fresh = true;
  answering = new AbortController();
  busy(true);
  try {
    const options = { method: "POST", body, headers: { Accept: "application/x-ndjson" }, signal: answering.signal };
    const answer = await fetch(composer.action, options);
    if (!answer.ok) throw new Error((await answer.json()).detail);
    begin();
    for await (const line of linesOf(answer.body)) take(line, entry);
  } catch (error) {
    const said = { AbortError: "Stopped.", TypeError: "The connection was lost." }[error.name];
    entry.after(make("li", "notice", said ? `${said} The text so far is saved.` : error.message));
  }
  entry.classList.remove("waiting");
  answering = null;
  busy(false);
}

function busy(now) {
  const button = find("button", composer);
  find(".log").setAttribute("aria-busy", String(now));
  composer.classList.toggle("busy", now);
  button.setAttribute("aria-label", now ? "Stop" : "Send");
}

if (composer) {
  toEnd();
  if (location.hash.length > 1 && location.hash !== "#end") find(location.hash)?.scrollIntoView();
  if (innerWidth > 720) words.focus({ preventScroll: true });
  words.addEventListener("input", fit);
  words.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    say();
  });
  composer.addEventListener("submit", (event) => {
    event.preventDefault();
    if (answering) answering.abort(); else say();
  });
  addEventListener("pagehide", () => {
    if (!fresh) return;
    fresh = false;
    navigator.sendBeacon(`/api${root}/sessions/${encodeURIComponent(chat.dataset.session)}/close`);
  });
}

// On a phone, the conversation list covers the chat.
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-talks]") || location.search) return;
  event.preventDefault();
  const listed = find(".page").classList.toggle("listing");
  (listed ? find("#talks a") : find(".crumb [data-talks]")).focus();
});
