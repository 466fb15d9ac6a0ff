// Makes the page live. Without it, the page has the numbers of when it was loaded.
"use strict";

const put = (id, words) => {
  const element = document.getElementById(id);
  if (element && element.textContent !== words) element.textContent = words;
};

// Parts of the page that are as the catalog is are fetched again when that is another: at most
// every ten seconds, and not while somebody types in them.
const PATIENCE = 10000;
let known = null;
let stale = false;
let last = 0;
let busy = false;

async function renew() {
  if (!stale || busy || document.hidden || Date.now() - last < PATIENCE) return;
  busy = true;
  stale = false;
  last = Date.now();
  try {
    const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
    if (answer.redirected) {
      location.reload();
      return;
    }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    // A folder came or went, or something cannot be read any more: all of the page is another.
    const ids = (page) => Array.from(page.querySelectorAll("[data-live], [role=alert]"), (it) => it.id).join();
    if (ids(fresh) !== ids(document)) {
      location.reload();
      return;
    }
    for (const old of document.querySelectorAll("[data-live]")) {
      const part = fresh.getElementById(old.id);
      const isUsed = old.contains(document.activeElement) || old.querySelector("details[open]");
      if (part && !isUsed && part.outerHTML !== old.outerHTML) old.replaceWith(document.adoptNode(part));
    }
  } catch {
    stale = true;
  } finally {
    busy = false;
  }
}

const source = new EventSource("/live");
source.onmessage = (event) => {
  const told = JSON.parse(event.data);
  put("now", told.now);
  put("rate", told.rate);
  put("left", told.left);
  const progress = document.getElementById("progress");
  if (progress) {
    progress.hidden = told.of === null;
    if (told.of !== null) {
      progress.max = told.of;
      progress.value = told.done;
    }
  }
  if (known !== null && told.version !== known) stale = true;
  known = told.version;
  renew();
};
source.onerror = () => {
  put("now", "The daemon does not answer; what is shown is as of above.");
  put("rate", "-");
  put("left", "-");
};
