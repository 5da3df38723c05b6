extension PageScript {
  /// One object.
  static let object = #"""
    // ---- One object: values, what it refers to, what refers to it.

    async function showObject(isRefresh) {
      const panel = $("object");
      if (!place.id) hideObject();
      for (const row of table?.body?.children ?? []) {
        row.classList.toggle("open", row.querySelector(".id a")?.dataset.id === place.id);
      }
      if (!place.id) return;
      panel.hidden = false;
      document.body.classList.add("withObject");
      try {
        const object = await askOnly("object", "object", { id: place.id, at: place.at });
        const scrolled = isRefresh ? panel.scrollTop : 0;
        const hasFocus = panel.contains(document.activeElement);
        const opened = isRefresh
          ? new Set([...panel.querySelectorAll("details[open]")].map((node) => node.dataset.name))
          : new Set();
        fill(panel, objectNodes(object, opened));
        panel.scrollTop = scrolled;
        if (hasFocus) panel.focus({ preventScroll: true });
      } catch (error) {
        if (isAborted(error)) return;
        fill(panel, panelHead(el("h2", {}, place.id)), el("p", { class: "error" }, error.message));
      }
    }

    function hideObject() {
      running.object?.abort();
      fill($("object"));
      $("object").hidden = true;
      document.body.classList.remove("withObject");
    }

    function panelHead(title) {
      return el("div", { class: "head" }, title, el("span", { class: "space" }),
        button("×", () => go({ id: null }), { class: "plain close", "aria-label": "Close" }));
    }

    function objectNodes(object, opened) {
      const lineage = object.lineage.toReversed().map((name, at) => {
        return [at ? " › " : "", el("a", { href: tableLink(name) }, isolated(name))];
      });
      const title = el("div", {}, el("h2", {}, object.label == null ? object.id : isolated(object.label)),
        el("div", { class: "faint" }, lineage.flat(), " ", el("code", {}, object.id.split("/")[1])));
      const values = object.values.map((value) => {
        const shown = whole(value.value, value, object.id);
        return [el("dt", { title: value.type }, isolated(value.name)), el("dd", { title: value.exact ?? null }, shown)];
      });
      const toOnes = object.toOne.map((one) => {
        const shown = one.target ? reference(one.target) : el("span", { class: "none" }, "–");
        return [el("dt", { title: one.destination }, isolated(one.name)), el("dd", {}, shown)];
      });
      return [
        panelHead(title),
        el("dl", { class: "values" }, values),
        toOnes.length ? el("h3", {}, "leads to") : null,
        el("dl", { class: "values" }, toOnes),
        object.toMany.length ? el("h3", {}, "has") : null,
        object.toMany.map((many) => toMany(object, many, opened.has(many.name))),
        referrersNode(object),
        historyOf(object),
        el("p", { class: "faint uri" }, object.uri),
      ];
    }

    // A to-many relationship as a count that opens.
    function toMany(object, many, isOpen) {
      const summary = el("summary", {}, isolated(many.name), " ", el("b", {}, count(many.count)),
        el("span", { class: "faint" }, " " + many.destination));
      if (!many.count) return el("div", { class: "many zero" }, [...summary.childNodes]);
      const body = el("div", { class: "related" });
      const node = el("details", { class: "many", "data-name": many.name }, summary, body);
      node.addEventListener("toggle", () => {
        if (node.open && !body.hasChildNodes()) more(object, many, body);
      });
      if (isOpen) node.open = true;
      return node;
    }

    async function more(object, many, body) {
      const offset = body.querySelectorAll("li").length;
      const page = await ask("related", { id: object.id, name: many.name, offset, limit: 50, at: place.at });
      let list = body.querySelector("ul");
      if (!list) body.append(list = el("ul", {}));
      for (const row of page.rows) {
        const cells = row.cells.map((value, at) => ({ value, column: page.columns[at] }));
        const others = cells.filter(
          ({ value, column }) => column.name !== row.labelName && value != null && value !== "" && !value.outside);
        const name = row.label == null ? row.id : isolated(row.label);
        list.append(el("li", {}, el("a", { href: objectLink(row.id), class: "reference" }, name),
          el("span", { class: "faint rest" },
            others.slice(0, 3).map(({ value, column }) => [" ", cell(value, column, row.id)]))));
      }
      body.querySelector(".more")?.remove();
      if (page.hasMore) {
        body.append(button(`${count(page.total - offset - page.rows.length)} more`, () => more(object, many, body),
          { class: "plain more" }));
      }
      const inverse = entityNamed(object.entity)?.relationships.find((item) => item.name === many.name)?.inverse;
      if (inverse && !body.querySelector(".all")) {
        body.append(
          el("a", { class: "all", href: tableLink(many.destination, { by: inverse, of: object.id }) }, "as a table"));
      }
    }

    function referrersNode(object) {
      const lineage = new Set(object.lineage);
      const isReferrer = (entity) => entity.relationships.some(
        (item) => item.inverse == null && lineage.has(item.destination) && !inherited(entity, item.name));
      if (!overview.entities.some(isReferrer)) return null;
      const list = el("ul", { class: "referrers" });
      const node = el("details", { class: "many", "data-name": "@referrers" },
        el("summary", {}, "referred to by ", el("span", { class: "faint" }, "relationships without inverse")), list);
      node.addEventListener("toggle", async () => {
        if (!node.open) return;
        const { referrers } = await ask("referrers", { id: object.id, at: place.at });
        fill(list, referrers.map((item) => {
          const table = tableLink(item.entity, { by: item.relationship, of: object.id });
          return el("li", {}, el("a", { href: table }, `${item.entity}.${item.relationship}`), " ", el("b", {}, count(item.count)));
        }));
      });
      return node;
    }

    const inherited = (entity, name) =>
      entity.parent && entityNamed(entity.parent)?.relationships.some((item) => item.name === name);

    function historyOf(object) {
      if (!overview.hasGenerations) return null;
      return el("p", {}, el("a", { href: link({ view: "history", of: object.id }) }, "what happened to it"));
    }
    """#
}
