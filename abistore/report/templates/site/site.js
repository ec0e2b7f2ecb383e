"use strict";
const query = document.querySelector("#find"), list = document.querySelector("#found");
const root = document.body.dataset.root, entries = [];
let shards = [], loading = false, base = root;
const asked = new Set();

function abistore_index(rows) {
  for (const [text, about, address] of rows) entries.push([text, about, base + address, text.toLowerCase()]);
  show();
}

function abistore_shards(names) { shards = names; }

function load(files) {
  const [file, ...rest] = files;
  if (!file) { loading = false; more(); return; }
  loading = true;
  asked.add(file);
  const script = document.createElement("script");
  script.src = file;
  base = file.slice(0, file.lastIndexOf("/") + 1);
  script.onload = script.onerror = () => load(rest);
  document.head.append(script);
}

function wanted() {
  const words = (query.value.toLowerCase().match(/[a-z0-9]{2,}/g) || []).sort((a, b) => b.length - a.length);
  const names = shards.includes("all") ? ["all"] : words.slice(0, 1).map((word) => word.slice(0, 2));
  return names.filter((name) => shards.includes(name)).map((name) => `${root}names/${name}.js`);
}

function more() {
  if (loading) return;
  const files = [`${root}search.js`, document.body.dataset.names].filter((file) => file && !asked.has(file));
  const next = files.length ? files : wanted().filter((file) => !asked.has(file));
  if (next.length) load(next);
}

function show() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = words.length ? entries.filter((one) => words.every((word) => one[3].includes(word) || one[1].toLowerCase().includes(word))) : [];
  const rank = (one) => (one[3] === words.join(" ") ? 0 : one[3].startsWith(words[0]) ? 1 : 2);
  fits.sort((a, b) => rank(a) - rank(b) || a[3].length - b[3].length);
  const told = new Map(fits.map((one) => [`${one[0]}\n${new URL(one[2], location)}`, one]));
  list.replaceChildren(...[...told.values()].slice(0, 30).map(([text, about, address]) => {
    const item = document.createElement("li"), link = document.createElement("a"), aside = document.createElement("small");
    link.href = address;
    link.textContent = text;
    aside.textContent = about;
    link.append(aside);
    item.append(link);
    return item;
  }));
  if (words.length && !fits.length) list.append(Object.assign(document.createElement("li"), { textContent: loading ? "Searching …" : "Nothing found" }));
  list.hidden = !words.length;
}

function abistore_built(when) {
  const days = Math.floor((Date.now() - new Date(when)) / 864e5);
  const age = days < 1 ? "today" : days === 1 ? "yesterday" : `${days} days ago`;
  if (when) document.querySelector("#built").textContent = `Built by abistore on ${when.slice(0, 10)}, ${age}`;
}

query.addEventListener("focus", more);
query.addEventListener("input", () => { more(); show(); });
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

const OUTCOMES = { F: ["fail", "Fail"], "?": ["undecided", "Undecided"], W: ["waived", "Waived"], P: ["pass", "Pass"] };
const VERDICTS = Object.fromEntries([...document.querySelectorAll("symbol.v")].map((one) => [one.id.slice(2), one.dataset.words]));

function made(tag, name, ...inside) {
  const node = document.createElement(tag);
  node.className = name;
  node.append(...inside);
  return node;
}

function sign(symbol, tone, label) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), use = document.createElementNS(svg.namespaceURI, "use");
  svg.setAttribute("class", `sign ${tone}`);
  svg.setAttribute(label ? "aria-label" : "aria-hidden", label || "true");
  if (label) svg.setAttribute("role", "img");
  use.setAttribute("href", `#${symbol}`);
  svg.append(use);
  return svg;
}

function row([name, folder, version, outcomes, verdict, exports, day]) {
  const [tone, words] = OUTCOMES[outcomes.at(-1)], link = made("a", "", name);
  link.href = `libraries/${folder}/index.html`;
  const strip = [...outcomes].map((letter) => sign(`o-${OUTCOMES[letter][0]}`, OUTCOMES[letter][0], OUTCOMES[letter][1]));
  return made("tr", tone, made("td", "who", link, " ", made("span", "latest", version)),
    made("td", "may", made("span", `outcome ${tone}`, sign(`o-${tone}`, ""), words)),
    made("td", "beside", made("span", "told", sign(`v-${verdict}`, ""), VERDICTS[verdict])),
    made("td", "strip", ...strip), made("td", "number exported", exports), made("td", "day", day));
}

function abistore_libraries(rows) {
  const table = document.querySelector("#libraries"), choose = document.querySelector(".choose");
  const field = document.querySelector("#choose"), order = document.querySelector("#sort"), told = document.querySelector("#chosen");
  const buttons = [...choose.querySelectorAll("button")], many = 80;
  const orders = { age: (a, b) => (a[6] < b[6]) - (a[6] > b[6]), old: (a, b) => (a[6] > b[6]) - (a[6] < b[6]), name: (a, b) => (a[0].toLowerCase() < b[0].toLowerCase() ? -1 : 1) };
  const pager = document.querySelector(".pager") || made("nav", "pager");
  table.parentElement.after(pager);
  let page = 0, fits = rows;

  function turn(text, to) {
    const button = made("button", "", text);
    button.disabled = to < 0 || to * many >= fits.length;
    button.onclick = () => { page = to; draw(); table.parentElement.scrollIntoView(); };
    return button;
  }

  function draw() {
    table.replaceChildren(...fits.slice(page * many, (page + 1) * many).map(row));
    pager.replaceChildren(turn("← before", page - 1), made("span", "", `page ${page + 1} of ${Math.max(Math.ceil(fits.length / many), 1)}`), turn("next →", page + 1));
    pager.hidden = fits.length <= many;
    told.textContent = fits.length === rows.length ? "" : `${fits.length} of ${rows.length}`;
  }

  function choice() {
    const off = new Set(buttons.filter((one) => one.ariaPressed === "false").map((one) => one.value));
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    fits = rows.filter((one) => !off.has(one[3].at(-1)) && words.every((word) => one[0].toLowerCase().includes(word)));
    if (order.value !== "problem") fits.sort(orders[order.value]);
    page = 0;
    draw();
  }

  for (const button of buttons)
    button.addEventListener("click", () => {
      button.ariaPressed = button.ariaPressed === "true" ? "false" : "true";
      choice();
    });
  field.addEventListener("input", choice);
  order.addEventListener("change", choice);
  choose.hidden = false;
}
