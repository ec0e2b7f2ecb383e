"use strict";
const field = document.querySelector("#text"), select = document.querySelector("#kind"), told = document.querySelector("output");
const buttons = [...document.querySelectorAll(".filters button")], changes = [...document.querySelectorAll(".change")];
const texts = new Map();
const open = new Map([...document.querySelectorAll(".kind")].map((group) => [group, group.open]));

function text(change) {
  if (!texts.has(change)) texts.set(change, change.textContent.toLowerCase());
  return texts.get(change);
}

function filter() {
  const off = new Set(buttons.filter((one) => one.ariaPressed === "false").map((one) => one.value));
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const alive = new Map();
  let shown = 0;
  for (const change of changes) {
    const group = change.closest(".kind");
    const fits = !off.has(group.dataset.impact) && (!select.value || select.value === group.dataset.kind) &&
      words.every((word) => text(change).includes(word) || group.dataset.kind.includes(word));
    change.hidden = !fits;
    shown += fits;
    alive.set(group, (alive.get(group) || 0) + fits);
  }
  for (const [group, count] of alive) {
    group.hidden = !count;
    group.open = open.get(group) || (words.length > 0 && count <= 500);
  }
  for (const section of document.querySelectorAll(".impact"))
    section.hidden = [...section.querySelectorAll(".kind")].every((group) => group.hidden);
  told.textContent = (shown === changes.length ? "" : `${shown} of `) + (changes.length === 1 ? "1 change" : `${changes.length} changes`);
}

function reveal() {
  const change = document.getElementById(location.hash.slice(1));
  if (!change) return;
  change.closest("details")?.setAttribute("open", "");
  change.scrollIntoView();
}

for (const button of buttons)
  button.addEventListener("click", () => {
    button.ariaPressed = button.ariaPressed === "true" ? "false" : "true";
    filter();
  });
field.addEventListener("input", filter);
select.addEventListener("change", filter);
addEventListener("hashchange", reveal);
filter();
reveal();
