// Copy buttons, and live updates. Without this script the page shows the numbers of when it was
// loaded, and commands can be selected.
"use strict";

// Copying. Browsers have a clipboard for safe connections only; the selection works for all.
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  }
}

function addButtons(part) {
  for (const box of part.querySelectorAll(".command")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy: " + box.textContent);
    button.addEventListener("click", async () => {
      await copy(box.querySelector("code"));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    box.append(button);
  }
}

// Live parts are fetched again when the catalog changed: at most every ten seconds, and not while
// the user types in them.
const PATIENCE = 10000;
// Each live part as the server sent it.
const sent = new Map();
let version = null;
let stale = false;
let last = 0;
let busy = false;

function setUp(page) {
  for (const part of page.querySelectorAll("[data-live]")) sent.set(part.id, part.outerHTML);
  addButtons(page);
}

function replace(old, fresh) {
  if (sent.get(old.id) === fresh.outerHTML || old.contains(document.activeElement?.closest("form"))) return;
  sent.set(old.id, fresh.outerHTML);
  const open = Array.from(old.querySelectorAll("details[open][id]"), (it) => it.id);
  const focused = old.contains(document.activeElement) && document.activeElement.closest("[id]").id;
  const part = document.adoptNode(fresh);
  old.replaceWith(part);
  addButtons(part);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.querySelector("summary, a, button")?.focus();
}

async function renew() {
  if (!stale || busy || document.hidden || Date.now() - last < PATIENCE) return;
  busy = true;
  stale = false;
  last = Date.now();
  try {
    const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    // After a logout, and when a folder was added, the page as a whole is different.
    const ids = (page) => Array.from(page.querySelectorAll("[data-live], [role=alert]"), (it) => it.id).join();
    if (answer.redirected || ids(fresh) !== ids(document)) {
      location.reload();
      return;
    }
    for (const old of document.querySelectorAll("[data-live]")) replace(old, fresh.getElementById(old.id));
    setTitle();
  } catch {
    stale = true;
  } finally {
    busy = false;
  }
}

function setTitle() {
  const headline = document.getElementById("headline");
  if (headline) document.title = headline.textContent + " - lanesum";
}

function show(words, done, of) {
  const section = document.getElementById("reading");
  if (!section) return;
  section.hidden = words === null;
  if (words === null) return;
  document.getElementById("now").textContent = words;
  const progress = document.getElementById("progress");
  progress.max = of;
  progress.value = done;
}

function follow() {
  setTitle();
  const source = new EventSource("/live");
  source.onmessage = (message) => {
    const event = JSON.parse(message.data);
    document.getElementById("lost").hidden = true;
    show(event.now, event.done, event.of);
    if (version !== null && event.version !== version) stale = true;
    version = event.version;
    renew();
  };
  source.onerror = () => {
    document.getElementById("lost").hidden = false;
    show(null);
  };
}

setUp(document);
if (document.currentScript?.hasAttribute("data-follow")) follow();
