"use strict";
const query = document.querySelector("#find"), list = document.querySelector("#found");
const root = document.body.dataset.root, entries = [];
let loading = false, base = root;

function abistore_index(rows) {
  for (const [text, about, address] of rows) entries.push([text, about, base + address, text.toLowerCase()]);
  show();
}

function load(files) {
  if (!files.length) return;
  const script = document.createElement("script");
  script.src = files[0];
  base = files[0].slice(0, files[0].lastIndexOf("/") + 1);
  script.onload = script.onerror = () => load(files.slice(1));
  document.head.append(script);
}

function start() {
  if (loading) return;
  loading = true;
  load([`${root}search.js`, ...(document.body.dataset.names || "").split(" ").filter(Boolean)]);
}

function show() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = words.length ? entries.filter((one) => words.every((word) => one[3].includes(word) || one[1].includes(word))) : [];
  const rank = (one) => (one[3] === words.join(" ") ? 0 : one[3].startsWith(words[0]) ? 1 : 2);
  fits.sort((a, b) => rank(a) - rank(b) || a[3].length - b[3].length);
  list.replaceChildren(...fits.slice(0, 30).map(([text, about, address]) => {
    const item = document.createElement("li"), link = document.createElement("a"), aside = document.createElement("small");
    link.href = address;
    link.textContent = text;
    aside.textContent = about;
    link.append(aside);
    item.append(link);
    return item;
  }));
  if (words.length && !fits.length) list.append(Object.assign(document.createElement("li"), { textContent: "Nothing found" }));
  list.hidden = !words.length;
}

query.addEventListener("focus", start);
query.addEventListener("input", () => { start(); show(); });
addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  if (event.key === "Escape") { list.hidden = true; query.blur(); }
  if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); query.focus(); }
  if (event.key === "ArrowDown" && (at >= 0 || document.activeElement === query)) { event.preventDefault(); links[at + 1]?.focus(); }
  if (event.key === "ArrowUp" && at >= 0) { event.preventDefault(); (links[at - 1] || query).focus(); }
  if (event.key === "Enter" && document.activeElement === query) links[0]?.click();
});
addEventListener("click", (event) => { if (!event.target.closest(".find")) list.hidden = true; });
for (const pan of document.querySelectorAll(".chart .pan")) pan.scrollLeft = pan.scrollWidth;
