extension PageScript {
  /// The page as a whole: entities, following the store, keys.
  static let page = #"""
    // ---- The page as a whole.

    async function readOverview() {
      overview = await ask("store", { at: place.at });
      document.title = `${overview.name} – Heartwood`;
      fill($("store"), el("b", { title: overview.path }, isolated(overview.name)),
        el("span", { class: "faint" }, " " + overview.kind));
      showEntities();
      showState();
    }

    // Another store is at the path: nothing of the former one is kept but the place, as far as it may be the same.
    async function beginAnew() {
      const { uuid } = overview;
      // A generation is of one store.
      place = placeOf(link({ at: null }));
      [table, generations, shown] = [null, null, {}];
      await readOverview();
      const isOther = overview.uuid !== uuid;
      const isKept = !isOther || (entityNamed(place.entity) && !place.id && !place.of);
      if (isOther) exchanged = new Date();
      history.replaceState(null, "", isKept ? link({}) : "#");
      shown = { at: undefined };
      await render();
      showState();
      follow();
    }

    // When another store was found at the path.
    let exchanged = null;

    function showEntities() {
      fill($("entities"), inheritanceOrder(null, 0).map(({ entity, depth }) => {
        const isShown = place.view == null && place.entity === entity.name;
        const node = el("a", {
          href: tableLink(entity.name),
          class: entity.isAbstract ? "abstract" : null,
          "aria-current": isShown ? "true" : null,
          title: entity.own === entity.count ? null : `${count(entity.own)} of its own`,
        }, el("span", { class: "name" }, isolated(entity.name)), el("span", { class: "count" }, count(entity.count)));
        // Deeper ones stay where the list has room for their names.
        node.style.paddingLeft = `${0.9 + Math.min(depth, 7) * 0.9}rem`;
        return node;
      }));
    }

    // The entities, each followed by those that inherit from it.
    function inheritanceOrder(parent, depth) {
      const children = overview.entities.filter((entity) => (entityNamed(entity.parent)?.name ?? null) === parent);
      return children.flatMap((entity) => [{ entity, depth }, ...inheritanceOrder(entity.name, depth + 1)]);
    }

    function showState() {
      const [kind, text] = liveness();
      const time = () => go({ time: place.time ? null : "1", at: null });
      document.body.classList.toggle("gone", overview.absence != null);
      fill($("state"), el("span", { class: `dot ${kind}` }), el("span", { class: "word", title: text }, text),
        exchanged
          ? el("span", { class: "chip exchanged" }, `another store since ${exchanged.toLocaleTimeString()}`)
          : null,
        overview.hasGenerations
          ? button("time", time, { class: place.time ? "on" : null, title: "Earlier generations (t)" })
          : null,
        button("?", showHelp, { class: "plain", title: "Keys", "aria-label": "Keys" }));
      const views = [[null, "Objects"], ["history", "History"], ["model", "Model"]];
      fill($("views"), views.filter(([view]) => view !== "history" || overview.hasGenerations).map(([view, title]) => {
        const href = link({ view, of: null, by: null, ...(view ? { id: null } : {}) });
        return el("a", { href, "aria-current": (place.view ?? null) === view ? "page" : null }, title);
      }));
    }

    function liveness() {
      if (document.body.classList.contains("lost")) return ["lost", "the command has ended"];
      if (overview.absence != null) return ["lost", overview.absence];
      if (place.at) return ["past", `as of ${place.at}`];
      if (overview.fixed != null) return ["past", `as of ${overview.fixed}`];
      return overview.isLive ? ["live", "live"] : ["still", "read once"];
    }

    // The entity that is shown first: that with most objects.
    function largestEntity() {
      const concrete = overview.entities.filter((entity) => !entity.isAbstract);
      return concrete.reduce((best, entity) => (entity.count > (best?.count ?? -1) ? entity : best), null);
    }

    let shown = {};

    async function render() {
      const before = shown;
      place = placeOf(location.hash);
      place.entity ??= largestEntity()?.name ?? overview.entities[0]?.name;
      shown = place;
      closeMenu();
      const changed = (...keys) => keys.some((key) => before[key] !== place[key]);
      try {
        if (changed("at"))
          await readOverview();
        else {
          showEntities();
          showState();
        }
      } catch (error) {
        if (!isAborted(error)) showMissing(error);
        return;
      }
      showTime();
      if (place.view === "history") {
        if (changed("view", "of")) await showHistory();
      } else if (place.view === "model") {
        if (changed("view")) await showModel();
      } else if (!table || changed("view", "entity", "where", "sort", "offset", "by", "of", "at")) {
        await showTable(!changed("view", "entity", "where", "sort", "offset", "by", "of"));
      }
      if (changed("id", "at") || !$("object").hidden !== Boolean(place.id)) await showObject();
    }

    // A place that cannot be shown, such as a generation whose space was reclaimed.
    function showMissing(error) {
      table = null;
      shown = {};
      showState();
      hideObject();
      fill($("main"),
        el("div", { class: "empty" }, el("p", { class: "error" }, error.message),
          place.at ? button("look at the newest generation", () => go({ at: null })) : null));
    }

    // ---- Following a store that is being written.

    const refresh = paced(250, async () => {
      try {
        await readOverview();
        // The former list is there until the new one has come, as the slider may be moved meanwhile.
        if (place.time)
          await readGenerations();
        else
          generations = null;
        await refreshPlace();
      } catch (error) {
        if (error instanceof Failure) showMissing(error);
      }
    });

    async function refreshPlace() {
      showTime();
      if (place.at) return;
      const moments = [];
      if (place.view == null && table) moments.push(showTable(true));
      if (place.view === "history" && $("main").querySelector(".scroll")?.scrollTop === 0 &&
        !$("main").querySelector("details[open]"))
        moments.push(showHistory());
      if (place.id) moments.push(showObject(true));
      await Promise.all(moments);
    }

    let source = null;

    // A page that is not seen follows nothing: a browser has few connections for all pages of a command.
    function follow() {
      source?.close();
      source = null;
      if (!overview.isLive || document.hidden) return;
      source = new EventSource("api/changes");
      source.onmessage = (event) => {
        const { generation, number, absence } = JSON.parse(event.data);
        lost(false);
        if (number !== overview.number) return beginAnew().catch(showMissing);
        if (absence !== overview.absence) {
          overview.absence = absence;
          showState();
          say(absence ?? "the store is there again");
        }
        if (generation !== overview.generation) refresh();
      };
      source.onerror = () => lost(true);
      source.onopen = () => lost(false);
    }

    document.addEventListener("visibilitychange", follow);

    // ---- Keys.

    const keys = [
      ["↑|↓", "one row up or down; the next page at the end"],
      ["Enter", "open the object of the row"],
      ["o", "the object that is open: Tab leads through it, arrows scroll it"],
      ["Esc", "close what is open"],
      ["←|→", "scroll sideways"],
      ["Page Up|Page Down", "the page before or after"],
      ["Home|End", "the first or last row of the page"],
      ["/", "the condition"],
      ["Tab", "take a completion"],
      ["g", "go to a page"],
      ["s", "sort by the next indexed attribute"],
      ["e", "the entities"],
      ["h", "the history"],
      ["m", "the model"],
      ["t", "the slider over generations"],
      ["[|]", "one generation back or on"],
      ["?", "these keys"],
    ];

    function showHelp() {
      const help = $("help");
      fill(help, el("h2", {}, "Keys"),
        el("dl", {},
          keys.map(([key, meaning]) => [el("dt", {}, key.split("|").map((part) => el("kbd", {}, part))),
                     el("dd", {}, meaning),
      ])),
        el("form", { method: "dialog" }, el("button", {}, "Close")));
      help.showModal();
    }

    function closeMenu() {
      document.body.classList.remove("withEntities");
      $("menu").setAttribute("aria-expanded", "false");
    }

    function sortNext() {
      const indexed = entityNamed(place.entity)
                        ?.attributes.filter((attribute) => attribute.isIndexed)
                        .map((attribute) => attribute.name) ??
        [];
      if (!indexed.length) return;
      const orders = [null, ...indexed.flatMap((name) => [name, "-" + name])];
      go({ sort: orders[(orders.indexOf(place.sort ?? null) + 1) % orders.length], offset: null });
    }

    const actions = {
      ArrowDown: () => table && moveCursor(1),
      ArrowUp: () => table && moveCursor(-1),
      ArrowLeft: () => table?.scroll.scrollBy({ left: -120 }),
      ArrowRight: () => table?.scroll.scrollBy({ left: 120 }),
      PageDown: () => table && turn(1),
      PageUp: () => table && turn(-1),
      Home: () => table && moveCursor(-pageLength),
      End: () => table && moveCursor(table.answer.rows.length - 1 - table.cursor),
      Enter: () => table?.answer?.rows[table.cursor] && go({ id: table.answer.rows[table.cursor].id }),
      o: () => place.id && $("object").focus(),
      "/": () => {
        field?.input.isConnected && (field.input.focus(), field.input.select());
      },
      g: () => {
        const input = table?.pager.querySelector("input");
        input?.focus();
        input?.select();
      },
      s: sortNext,
      e: () => {
        document.body.classList.add("withEntities");
        ($("entities").querySelector("[aria-current]") ?? $("entities").querySelector("a"))?.focus();
      },
      h: () =>
        overview.hasGenerations && go({ view: place.view === "history" ? null : "history", of: null, id: null }),
      m: () => go({ view: place.view === "model" ? null : "model", id: null }),
      t: () => overview.hasGenerations && go({ time: place.time ? null : "1", at: null }),
      "[": () => step(-1),
      "]": () => step(1),
      "?": showHelp,
      Escape: () => {
        if (document.body.classList.contains("withEntities")) return closeMenu();
        if (place.id) return go({ id: null });
        if (place.view) return go({ view: null, of: null });
        if (place.time) return go({ time: null, at: null });
      },
    };

    // Where there are no rows, and where the object has the focus, the keys that lead through rows scroll.
    const scrolling = {
      ArrowDown: (area) => area.scrollBy(0, 60),
      ArrowUp: (area) => area.scrollBy(0, -60),
      ArrowLeft: (area) => area.scrollBy(-120, 0),
      ArrowRight: (area) => area.scrollBy(120, 0),
      PageDown: (area) => area.scrollBy(0, area.clientHeight - 40),
      PageUp: (area) => area.scrollBy(0, 40 - area.clientHeight),
      Home: (area) => area.scrollTo(0, 0),
      End: (area) => area.scrollTo(0, area.scrollHeight),
    };

    function scrollAction(key) {
      if (!Object.hasOwn(scrolling, key)) return null;
      const area = $("object").contains(document.activeElement) ? $("object")
                                                                : !table?.answer && $("main").querySelector(".scroll");
      return area ? () => scrolling[key](area) : null;
    }

    async function step(by) {
      if (!overview.hasGenerations) return;
      if (!place.time) await go({ time: "1" });
      const slider = $("time").querySelector("input");
      if (slider) moveTo(Number(slider.value) + by);
    }

    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
      const isTyping = event.target.matches("input[type=text]");
      if (isTyping && event.key === "Escape") event.target.blur();
      if (isTyping || (event.target.matches("input") && event.key.startsWith("Arrow"))) return;
      if (event.target.matches("a, button, summary") && (event.key === "Enter" || event.key === " ")) return;
      if ($("entities").contains(event.target) && event.key.startsWith("Arrow")) return moveEntity(event);
      const action = scrollAction(event.key) ?? (Object.hasOwn(actions, event.key) ? actions[event.key] : null);
      if (!action) return;
      event.preventDefault();
      action();
    });

    function moveEntity(event) {
      event.preventDefault();
      const items = [...$("entities").querySelectorAll("a")];
      const at = items.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1);
      items[Math.max(0, Math.min(items.length - 1, at))]?.focus();
    }

    $("menu").addEventListener("click", () => {
      const isOpen = document.body.classList.toggle("withEntities");
      $("menu").setAttribute("aria-expanded", String(isOpen));
    });

    window.addEventListener("hashchange", render);

    (async () => {
      place = placeOf(location.hash);
      try {
        await readOverview();
        shown = { at: place.at };
      } catch (error) {
        showMissing(error);
      }
      await render();
      follow();
    })();
    """#
}
