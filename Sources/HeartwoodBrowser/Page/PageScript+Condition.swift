extension PageScript {
  /// The field of the condition: completion, and the place of an error.
  static let condition = #"""
    // ---- The condition, with completion and the place of an error.

    let field = null;

    function conditionField(entity) {
      const input = el("input", {
        type: "text",
        class: "condition",
        placeholder: placeholder(entity),
        spellcheck: "false",
        autocomplete: "off",
        autocapitalize: "off",
        "aria-label": "Condition",
        role: "combobox",
        "aria-expanded": "false",
        "aria-controls": "candidates",
      });
      const caret = el("span", { class: "caret", hidden: true }, "^");
      const list = el("ul", { id: "candidates", role: "listbox", hidden: true });
      const message = el("div", { class: "error", hidden: true, role: "alert" });
      const clear = button("×", () => {
        input.value = "";
        apply();
        input.focus();
      }, { class: "plain clear", "aria-label": "Remove the condition" });
      field = { input, caret, list, message, entity: entity.name, chosen: -1, candidates: [] };
      input.addEventListener("input", () => suggest());
      input.addEventListener("keydown", conditionKey);
      input.addEventListener("blur", () => setTimeout(() => hideCandidates(), 150));
      input.addEventListener("scroll", placeCaret);
      return el("div", { class: "where" },
        el("div", { class: "line" }, el("span", { class: "faint slash", "aria-hidden": "true" }, "where"),
          el("span", { class: "box" }, input, caret, list), clear),
        message);
    }

    function placeholder(entity) {
      const first = entity.attributes.find((attribute) => numeric.has(attribute.type));
      const text = entity.attributes.find((attribute) => attribute.type === "string");
      if (text) return `${text.name} BEGINSWITH[cd] "a"${first ? ` AND ${first.name} > 100` : ""}`;
      return first ? `${first.name} > 100` : "a condition";
    }

    function showCondition() {
      if (document.activeElement !== field.input) field.input.value = place.where ?? "";
    }

    function apply() {
      hideCandidates();
      go({ where: field.input.value.trim() || null, offset: null });
    }

    function showError(error) {
      field.message.hidden = !error;
      field.input.classList.toggle("wrong", error != null);
      field.column = error?.column ?? null;
      if (error) {
        field.message.textContent = error.message.replace(/^the predicate is wrong( at column \d+)?: /, "");
        say(field.message.textContent);
      }
      placeCaret();
    }

    function placeCaret() {
      const { caret, input, column } = field;
      caret.hidden = !column;
      if (column) caret.style.left = `calc(${column - 1}ch + 0.55rem - ${input.scrollLeft}px)`;
    }

    const suggest = later(90, async () => {
      const { input } = field;
      const cursor = input.selectionStart;
      try {
        const answer =
          await askOnly("completion", "completion", { entity: field.entity, text: input.value.slice(0, cursor) });
        if (document.activeElement === input && input.selectionStart === cursor) showCandidates(answer, cursor);
      } catch {
        hideCandidates();
      }
    });

    function showCandidates({ start, candidates }, cursor) {
      Object.assign(field, { candidates, start, cursor, chosen: -1 });
      field.list.hidden = !candidates.length;
      field.input.setAttribute("aria-expanded", String(candidates.length > 0));
      field.list.style.left = `calc(${Math.min(start, 60)}ch - ${field.input.scrollLeft}px)`;
      fill(field.list, candidates.map(candidateNode));
    }

    function candidateNode({ text, note }, at) {
      // The field keeps the focus.
      const take = (event) => {
        event.preventDefault();
        accept(at);
      };
      return el("li", { role: "option", id: `candidate${at}`, onmousedown: take }, el("span", {}, text),
        el("span", { class: "faint" }, note));
    }

    function hideCandidates() {
      field.candidates = [];
      field.list.hidden = true;
      field.input.setAttribute("aria-expanded", "false");
      field.input.removeAttribute("aria-activedescendant");
    }

    function choose(step) {
      const { list, candidates } = field;
      field.chosen =
        (field.chosen + step + candidates.length + (field.chosen < 0 && step < 0 ? 1 : 0)) % candidates.length;
      [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === field.chosen)));
      list.children[field.chosen].scrollIntoView({ block: "nearest" });
      field.input.setAttribute("aria-activedescendant", `candidate${field.chosen}`);
    }

    function accept(at) {
      const { input, start, cursor, candidates } = field;
      const { text, isRelationship } = candidates[at];
      const end = text === '""' || isRelationship ? "" : " ";
      input.value = input.value.slice(0, start) + text + end + input.value.slice(cursor);
      const position = start + text.length + end.length - (text === '""' || text.endsWith("{}") ? 1 + end.length : 0);
      input.setSelectionRange(position, position);
      hideCandidates();
      suggest();
    }

    function conditionKey(event) {
      const isOpen = !field.list.hidden;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (isOpen)
          choose(event.key === "ArrowDown" ? 1 : -1);
        else if (event.key === "ArrowDown")
          suggest();
      } else if (event.key === "Tab" && isOpen && !event.shiftKey) {
        event.preventDefault();
        accept(Math.max(0, field.chosen));
      } else if (event.key === "Enter") {
        event.preventDefault();
        if (isOpen && field.chosen >= 0)
          accept(field.chosen);
        else {
          apply();
          table.scroll.focus();
        }
      } else if (event.key === "Escape") {
        event.stopPropagation();
        if (isOpen)
          hideCandidates();
        else {
          field.input.value = place.where ?? "";
          showError(null);
          table.scroll.focus();
        }
      }
    }
    """#
}
