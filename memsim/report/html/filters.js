"use strict";
// Filters of the leaderboard and of the scenarios: rows by their name, boards by their budget.
(() => {
  const E = Page.element;

  const words = (text) => text.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const field = (name, control) =>
    E("div", { class: "field" }, E("label", { for: control.id }, name), control);

  function rowsOf(section) {
    return [...section.querySelectorAll("tbody tr")]
      .map((row) => ({ row, name: row.querySelector("th").textContent.trim() }));
  }

  // One field for names; what a section has beside it narrows further.
  function filter(section, label, name, hint, beside = () => ({ controls: [], keeps: () => true, reset() {} })) {
    const rows = rowsOf(section);
    if (new Set(rows.map(({ name }) => name)).size < 3) return;
    const id = `${section.id}-filter`;
    const search = E("input", { type: "search", id, placeholder: hint, input: renew });
    const count = E("p", { class: "note", role: "status" });
    const more = beside(renew);
    const clear = E("button", { type: "button", click: () => {
      search.value = "";
      more.reset();
      renew();
    } }, "Show all");

    function renew() {
      const wanted = words(search.value);
      for (const { row, name } of rows) {
        const named = !wanted.length || wanted.some((word) => name.toLowerCase().includes(word));
        row.hidden = !named || !more.keeps(row);
      }
      const seen = rows.filter(({ row }) => !row.hidden && !row.closest("[hidden]"));
      const names = new Set(seen.map(({ name }) => name));
      const all = new Set(rows.map(({ name }) => name));
      clear.disabled = names.size === all.size && seen.length === rows.length;
      count.textContent = names.size ? `${names.size} of ${all.size} shown.` : "Nothing is called that.";
    }

    const form = E("form", { class: "filters screen", role: "search", "aria-label": label,
      submit: (event) => event.preventDefault() }, field(name, search), ...more.controls, clear);
    section.querySelector(".question").after(form, count);
    renew();
  }

  // Boards beside the first one: all, or those of one budget; controls can be left out.
  function boards(section) {
    return (renew) => {
      const all = [...section.querySelectorAll(".board")];
      const folds = [...section.querySelectorAll(":scope > details")];
      const names = [...new Set(all.map((board) => board.dataset.budget))];
      const select = E("select", { id: "leaderboard-budget", change: () => pick() },
        E("option", { value: "" }, "all"), ...names.map((name) => E("option", { value: name }, name)));
      const marks = E("input", { type: "checkbox", id: "leaderboard-controls", checked: true, change: renew });

      function pick() {
        for (const board of all) board.hidden = Boolean(select.value) && board.dataset.budget !== select.value;
        for (const fold of folds) {
          const inside = [...fold.querySelectorAll(".board")];
          fold.hidden = inside.length > 0 && inside.every((board) => board.hidden);
          if (select.value && !fold.hidden) fold.open = true;
        }
        renew();
      }

      const controls = names.length > 1 ? [field("Budget", select)] : [];
      if (section.querySelector("tr.control")) {
        controls.push(E("label", { class: "tick" }, marks, " Controls"));
      }
      return {
        controls,
        keeps: (row) => marks.checked || !row.classList.contains("control"),
        reset() {
          marks.checked = true;
          select.value = "";
          pick();
        },
      };
    };
  }

  const leaderboard = document.getElementById("leaderboard");
  const grid = document.getElementById("grid");
  if (leaderboard) filter(leaderboard, "Filter of strategies", "Strategy", "bm25 layered", boards(leaderboard));
  if (grid) filter(grid, "Filter of scenarios", "Scenario", "support tool");
})();
