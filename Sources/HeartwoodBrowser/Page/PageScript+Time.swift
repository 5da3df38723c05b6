extension PageScript {
  /// The history, the slider over generations, and differences.
  static let time = #"""
    // ---- History, generations, and what has changed between two of them.

    // Those that the slider has, and how many there are before and after them.
    let generations = null;
    let around = { before: 0, after: 0 };

    async function showHistory() {
      const list = el("ol", { class: "history" });
      const rest = el("div", { class: "pager" });
      const restriction = place.of ? chip("of ", { of: null }) : null;
      fill($("main"), el("div", { class: "heading" }, el("h1", {}, "History"), restriction),
        el("div", { class: "scroll padded", tabindex: "0" }, list, rest));
      table = null;
      await moreHistory(list, rest, null);
    }

    // Numbers have gaps, such as those of compactions: some parts of the history are read until there is a list.
    async function moreHistory(list, rest, before) {
      const wanted = list.childElementCount + 20;
      try {
        let page = { before };
        for (let part = 0; part < 20 && (part === 0 || page.before) && list.childElementCount < wanted; part += 1) {
          page = await askOnly("history", "transactions", { before: page.before, object: place.of });
          list.append(...page.transactions.map(transactionNode));
        }
        const isEmpty = !list.childElementCount && !page.before;
        fill(rest, page.before ? button("earlier", () => moreHistory(list, rest, page.before)) : null,
          isEmpty ? el("p", { class: "empty" }, "No transaction.") : null);
      } catch (error) {
        if (!isAborted(error)) fill(rest, el("p", { class: "error" }, error.message));
      }
    }

    function transactionNode(transaction) {
      const changes = el("div", { class: "changes" });
      const node = el("details", {},
        el("summary", {}, el("code", { class: "stamp" }, `${transaction.number}`),
          el("time", { title: dateTitle(transaction.date) }, dateText(transaction.date)),
          el("span", { class: "author" }, transaction.author == null ? "" : isolated(transaction.author)),
          el("span", {}, isolated(transaction.summary))),
        changes);
      node.addEventListener("toggle", () => {
        if (!node.open || changes.hasChildNodes()) return;
        fill(changes,
          el("p", { class: "acts" },
            button("what changed", () => showDifferences(changes, transaction.number - 1, transaction.number)), " ",
            button("look at this moment", () => go({ at: transaction.number, time: "1", view: null }))),
          el("ul", {}, transaction.changes.map((change) => changeNode(change, transaction))),
          transaction.count > transaction.changes.length
            ? el("p", { class: "faint" }, `and ${count(transaction.count - transaction.changes.length)} more`)
            : null);
      });
      return el("li", {}, node);
    }

    // A deleted object is shown as it was before.
    function changeNode({ object, change, properties }, { number }) {
      const place = change === "delete" ? { id: object, at: number - 1 } : { id: object };
      return el("li", {}, mark(change), el("a", { href: link(place) }, object),
        el("span", { class: "faint" }, " " + properties.join(", ")));
    }

    const marks = {
      insert: ["+", "insert"],
      update: ["~", "update"],
      delete: ["−", "delete"]
    };

    function mark(kind) {
      const [letter, name] = marks[kind] ?? marks[{ inserted: "insert", updated: "update", deleted: "delete" }[kind]];
      return el("span", { class: `mark ${name}`, title: name }, letter);
    }

    async function showDifferences(box, from, to, entity) {
      fill(box, el("p", { class: "faint" }, "comparing…"));
      try {
        const answer = await ask("differences", { from, to, entity });
        fill(box,
          el("p", { class: "faint" }, plural(answer.count, "object"),
            answer.count > answer.differences.length ? `; the first ${answer.differences.length}` : ""),
          el("ul", { class: "differences" }, answer.differences.map(differenceNode)));
      } catch (error) {
        fill(box, el("p", { class: "error" }, error.message));
      }
    }

    function differenceNode(difference) {
      const { object, label, change, former = {}, values = {}, added = {}, removed = {} } = difference;
      const lines = Object.keys({ ...former, ...values }).map((name) => {
        const [before, after] = [valueNode(own(former, name)), valueNode(own(values, name))];
        const both = [el("del", {}, before), " → ", el("ins", {}, after)];
        const shown = { updated: both, deleted: before, inserted: after }[change];
        return el("div", {}, el("span", { class: "faint" }, name + " "), shown);
      });
      const links = (lists, sign) => Object.entries(lists).map(([name, objects]) => {
        const shown = objects.slice(0, 12).map((id) => [sign, el("a", { href: objectLink(id) }, id), " "]);
        const rest = objects.length > 12 ? `and ${count(objects.length - 12)} more` : "";
        return el("div", {}, el("span", { class: "faint" }, name + " "), shown, rest);
      });
      return el("li", {}, mark(change),
        el("a", { href: objectLink(object) }, label == null ? object : isolated(label)),
        label == null ? null : el("span", { class: "faint" }, " " + object),
        el("div", { class: "lines" }, lines, links(removed, "−"), links(added, "+")));
    }

    // A property may be called as something that every object of the language has.
    const own = (values, name) => (Object.hasOwn(values, name) ? values[name] : null);

    function valueNode(value) {
      if (value == null) return el("span", { class: "none" }, "–");
      return isolated(shorten(typeof value === "object" ? value["@ref"] ?? JSON.stringify(value) : String(value)));
    }

    const shorten = (text) => (text.length > 120 ? text.slice(0, 120) + "…" : text);

    // ---- The slider.

    async function showTime() {
      const bar = $("time");
      bar.hidden = !place.time || !overview.hasGenerations;
      if (bar.hidden) return;
      if (!generations || isAtEdge(placeOfMoment())) {
        if (!bar.querySelector("input")) fill(bar, el("span", { class: "faint" }, "reading the log…"));
        try {
          await readGenerations();
        } catch (error) {
          return fill(bar, el("span", { class: "error" }, error.message));
        }
      }
      if (!generations.length) return fill(bar, el("span", { class: "faint" }, "No earlier generation can be read."));
      const at = placeOfMoment();
      const slider = bar.querySelector("input") ?? makeSlider(bar);
      slider.max = generations.length - 1;
      slider.title = plural(around.before + generations.length + around.after, "generation");
      slider.value = at;
      showMoment(at);
    }

    async function readGenerations() {
      const { before, after, generations: found } = await ask("generations", { at: place.at });
      generations = found;
      around = { before: before ?? 0, after: after ?? 0 };
    }

    // The place of what is shown among the generations that the slider has.
    function placeOfMoment() {
      const found = place.at ? generations.findIndex(([generation]) => generation >= Number(place.at)) : -1;
      return found < 0 ? generations.length - 1 : found;
    }

    const isNewest = (index) => index === generations.length - 1 && !around.after;
    const isAtEdge = (index) =>
      (index <= 0 && around.before) || (index === generations.length - 1 && around.after);

    function makeSlider(bar) {
      const slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "Generation" });
      const settle = later(70, () => moveTo(Number(slider.value)));
      slider.addEventListener("input", () => {
        showMoment(Number(slider.value));
        settle();
      });
      fill(bar,
        button("‹", () => moveTo(Number(slider.value) - 1), { class: "plain", "aria-label": "One generation back" }),
        slider,
        button("›", () => moveTo(Number(slider.value) + 1), { class: "plain", "aria-label": "One generation on" }),
        el("span", { class: "moment" }),
        button("what changed", () => showChanged(Number(slider.value)), { class: "changed" }),
        button("now", () => go({ at: null }), { class: "now" }),
        button("×", () => go({ time: null, at: null }), { class: "plain", "aria-label": "Close" }),
        el("div", { class: "box", hidden: true }));
      return slider;
    }

    function moveTo(index) {
      if (!generations) return;
      const at = Math.max(0, Math.min(generations.length - 1, index));
      const box = $("time").querySelector(".box");
      if (!box.hidden) showChanged(at);
      $("time").querySelector("input").value = at;
      showMoment(at);
      go({ at: isNewest(at) ? null : generations[at][0] }, true);
    }

    function showMoment(index) {
      if (!generations) return;
      const [number, date, bytes] = generations[index];
      fill($("time").querySelector(".moment"), el("b", {}, isNewest(index) ? "now" : `generation ${number}`), " ",
        el("time", { title: dateTitle(date) }, dateText(date)),
        el("span", { class: "faint" }, ` ${ago(date)}, ${size(bytes)} written`));
      $("time").querySelector(".now").disabled = isNewest(index);
    }

    function showChanged(index) {
      const box = $("time").querySelector(".box");
      box.hidden = false;
      const number = generations[index][0];
      const body = el("div", {});
      fill(box,
        el("div", { class: "head" }, el("b", {}, `What generation ${number} changed`), " ",
          !isNewest(index)
            ? button("and all since", () => showDifferences(body, number, null), { class: "plain" })
            : null,
          el("span", { class: "space" }),
          button("×", () => box.setAttribute("hidden", ""), { class: "plain", "aria-label": "Close" })),
        body);
      if (index === 0 && !around.before)
        return fill(body, el("p", { class: "faint" }, "It is the oldest one that can be read."));
      showDifferences(body, index === 0 ? number - 1 : generations[index - 1][0], number);
    }
    """#
}
