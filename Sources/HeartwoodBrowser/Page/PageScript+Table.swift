extension PageScript {
  /// A table of objects: rows, pages, the plan, the cursor.
  static let table = #"""
    // ---- A table of objects.

    const pageLength = 200;
    let overview = { entities: [] };
    let table = null;

    const entityNamed = (name) => overview.entities.find((entity) => entity.name === name);

    function rowsQuery() {
      return {
        entity: place.entity,
        where: place.where,
        sort: place.sort,
        by: place.by,
        of: place.of,
        at: place.at,
        offset: place.offset,
        limit: pageLength,
        compare: place.at ? "1" : null,
      };
    }

    async function showTable(isRefresh) {
      const entity = entityNamed(place.entity);
      if (!entity) {
        const reason = overview.entities.length ? "This store has no such entity." : "The model of this store has no entities.";
        return fill($("main"), el("p", { class: "empty" }, reason));
      }
      const isSame = table && table.entity === place.entity && $("main").contains(table.body);
      if (!isSame) table = frame(entity);
      showCondition();
      const asking = table;
      try {
        const answer = await askOnly("rows", "rows", rowsQuery());
        if (table !== asking) return;
        table.answer = answer;
        table.scroll.classList.remove("stale");
        showError(null);
        showRows(answer, isRefresh);
        if (answer.total == null) countRows();
      } catch (error) {
        if (isAborted(error) || table !== asking) return;
        // A note about the rows is about those of another condition.
        table.scroll.classList.add("stale");
        table.total.textContent = "";
        showFilter();
        showError(error);
      }
    }

    // The parts around the rows, which stay while the rows change.
    function frame(entity) {
      const made = { entity: entity.name, cursor: 0 };
      made.total = el("span", { class: "faint total" });
      made.plan = el("details", { class: "plan" }, el("summary", {}), el("ol", {}));
      made.head = el("thead", {});
      made.body = el("tbody", {});
      made.grid = el("table", { class: "rows", "aria-label": entity.name }, made.head, made.body);
      made.scroll = el("div", { class: "scroll", tabindex: "0", "aria-label": "Rows" }, made.grid);
      made.pager = el("div", { class: "pager" });
      fill($("main"),
        el("div", { class: "heading" }, el("h1", {}, isolated(entity.name)), made.total,
          el("span", { class: "filter" }), el("span", { class: "space" }), downloads()),
        conditionField(entity), made.plan, made.scroll, made.pager);
      made.filter = $("main").querySelector(".filter");
      return made;
    }

    function downloads() { return el("span", { class: "downloads" }, ["csv", "json"].map(download)); }

    // A link whose address is made when it is followed, as the table may have changed.
    function download(format) {
      const name = format.toUpperCase();
      const follow = (event) => {
        const query = new URLSearchParams({ format });
        for (const [name, value] of Object.entries(rowsQuery())) {
          if (value && !["offset", "limit", "compare"].includes(name)) query.set(name, value);
        }
        event.currentTarget.setAttribute("href", `api/download?${query}`);
      };
      return el(
        "a", { href: "#", download: true, title: `All rows of this table as ${name}`, onclick: follow }, name);
    }

    function showRows(answer, isRefresh) {
      const { columns, rows } = answer;
      const former = isRefresh ? table.shown : null;
      fill(table.head, el("tr", {}, heading({ name: "", type: "object" }), columns.map(heading)));
      fill(table.body, rows.map((row, at) => rowNode(row, at, answer, former)));
      if (!rows.length)
        fill(table.body, el("tr", {}, el("td", { class: "empty", colspan: columns.length + 1 }, "No objects.")));
      table.cursor = Math.min(table.cursor, Math.max(rows.length - 1, 0));
      if (!isRefresh) {
        table.cursor = 0;
        table.scroll.scrollTop = 0;
      }
      markCursor();
      showFilter();
      if (answer.total != null)
        showTotal(answer.total);
      else if (!isRefresh)
        showTotal(null);
      showPlan(answer);
    }

    function showFilter() {
      fill(table.filter, place.by ? chip(`${place.by} = `, { by: null, of: null, offset: null }) : null);
    }

    // A chip that names the one object to which a view is restricted, with a link that removes it.
    function chip(text, without) {
      return el("span", { class: "chip" }, text, el("a", { href: objectLink(place.of) }, place.of), " ",
        el("a", { href: link(without), "aria-label": "Remove" }, "×"));
    }

    function heading(column) {
      if (!column.name) {
        const order = button("object", () => go({ sort: null, offset: null }), { title: "The order of identifiers" });
        return el("th", { class: "id", scope: "col" }, order);
      }
      const isDescending = place.sort === "-" + column.name;
      const isSorted = isDescending || place.sort === column.name;
      const next = !isSorted ? column.name : isDescending ? null : "-" + column.name;
      const order = isSorted ? (isDescending ? "descending" : "ascending") : "none";
      const mark = { ascending: " ↑", descending: " ↓", none: column.isIndexed ? " ·" : "" }[order];
      const title = `${column.type}${column.isIndexed ? ", indexed: sorted at once" : ""}`;
      const name = isolated(column.name);
      const label = column.isSortable
        ? button([name, el("span", { class: "order" }, mark)], () => go({ sort: next, offset: null }))
        : el("span", { class: "title" }, name);
      return el(
        "th", { scope: "col", "aria-sort": order, class: numeric.has(column.type) ? "number" : null, title }, label);
    }

    function rowNode(row, at, answer, former) {
      const present = answer.present ? answer.present[at] : undefined;
      const classes = [
        row.id === place.id && "open",
        present === null && "gone",
        former && !former.has(row.id) && "fresh",
      ];
      const open = (event) => {
        if (event.target.closest("a") || String(getSelection())) return;
        table.cursor = at;
        go({ id: row.id });
      };
      const cells = row.cells.map((value, number) => {
        const before = former?.get(row.id)?.[number];
        const isFresh = before !== undefined && before !== JSON.stringify(value);
        return cellNode(value, answer.columns[number], row, present, isFresh);
      });
      return el("tr", { class: classNames(classes), onclick: open }, nameNode(row, present), cells);
    }

    const classNames = (names) => names.filter(Boolean).join(" ") || null;

    function nameNode(row, present) {
      const [entity, key] = row.id.split("/");
      const title = present === null ? "deleted since" : row.id;
      return el("td", { class: "id" },
        el("a", { href: objectLink(row.id), title, "data-id": row.id }, entity === place.entity ? key : row.id));
    }

    function cellNode(value, column, row, present, isFresh) {
      const differs = present && Object.hasOwn(present, column.name);
      const classes = [numeric.has(column.type) && "number", differs && "differs", isFresh && "fresh"];
      const title = differs ? "now: " + plain(present[column.name]) : null;
      return el("td", { class: classNames(classes), title }, cell(value, column, row.id));
    }

    function plain(value) {
      if (value == null) return "no value";
      return typeof value === "object" ? value.label ?? value.ref ?? value.cut ?? JSON.stringify(value)
                                       : String(value);
    }

    function showTotal(total) {
      table.shown =
        new Map(table.answer.rows.map((row) => [row.id, row.cells.map((value) => JSON.stringify(value))]));
      table.count = total;
      const differing = table.answer.present?.filter((row) => row === null || Object.keys(row).length).length;
      const today = differing == null ? "" : `; ${differing ? count(differing) : "none"} of these differ today`;
      table.total.textContent = (total == null ? "…" : plural(total, "object")) + today;
      showPager();
      if (total != null) say(plural(total, "object"));
    }

    async function countRows() {
      const asking = table;
      try {
        const { total } = await askOnly("count", "count", rowsQuery());
        if (table === asking) showTotal(total);
      } catch (error) {
        if (!isAborted(error)) asking.total.textContent = "";
      }
    }

    // ---- Pages.

    function showPager() {
      const offset = Number(place.offset ?? 0);
      const page = Math.floor(offset / pageLength) + 1;
      const pages = table.count == null ? null : Math.max(1, Math.ceil(table.count / pageLength));
      const { rows, hasMore, microseconds } = table.answer;
      const field = el("input", { type: "text", inputmode: "numeric", value: page, "aria-label": "Page" });
      field.addEventListener("change", () => toPage(parseInt(field.value.replace(/\D/g, ""), 10), pages));
      fill(table.pager, button("«", () => toPage(1, pages), { disabled: page === 1, "aria-label": "First page" }),
        button("‹", () => toPage(page - 1, pages), { disabled: page === 1, "aria-label": "Previous page" }),
        el("span", {}, field, pages == null ? "" : ` of ${count(pages)}`),
        button("›", () => toPage(page + 1, pages), { disabled: !hasMore, "aria-label": "Next page" }),
        button("»", () => toPage(pages, pages), { disabled: !hasMore || pages == null, "aria-label": "Last page" }),
        el(
          "span", { class: "faint range" }, rows.length ? `${count(offset + 1)}–${count(offset + rows.length)}` : ""),
        el("span", { class: "space" }), el("span", { class: "faint" }, duration(microseconds)));
    }

    function toPage(number, pages) {
      if (!(number >= 1)) return showPager();
      const page = pages == null ? number : Math.min(number, pages);
      go({ offset: page === 1 ? null : (page - 1) * pageLength });
    }

    // ---- The plan.

    function showPlan(answer) {
      const [summary, list] = table.plan.children;
      table.plan.hidden = !answer.plan.length;
      if (!answer.plan.length) return;
      const steps = answer.plan.map(
        (step) => el("li", { class: /^(advice|hint)/i.test(step) ? "advice" : null }, isolated(step)));
      fill(summary, el("span", { class: "faint" }, "plan "),
        isolated(answer.plan.map((step) => step.replace(/ \([^)]*expected[^)]*\)$/, "")).join(" → ")));
      fill(list, steps, el("li", { class: "act" }, button("measure", async () => {
        const measured = await ask("analysis", rowsQuery());
        showPlan({ plan: measured.plan });
        table.plan.open = true;
      }, { class: "plain" })));
    }

    // ---- The cursor.

    function markCursor() {
      const rows = table.body.children;
      for (const row of rows) row.classList.remove("cursor");
      rows[table.cursor]?.classList.add("cursor");
    }

    function moveCursor(step) {
      const last = table.answer.rows.length - 1;
      const next = Math.max(0, Math.min(last, table.cursor + step));
      if (next === table.cursor && step === 1 && table.answer.hasMore) return turn(1);
      table.cursor = next;
      markCursor();
      table.body.children[next]?.scrollIntoView({ block: "nearest" });
      if (place.id) go({ id: table.answer.rows[next]?.id }, true);
    }

    function turn(step) {
      const offset = Math.max(0, Number(place.offset ?? 0) + step * pageLength);
      if (step > 0 && !table.answer.hasMore) return;
      go({ offset: offset || null });
    }
    """#
}
