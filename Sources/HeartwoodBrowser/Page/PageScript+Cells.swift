extension PageScript {
  /// Values as people read them.
  static let cells = #"""
    // ---- Values as people read them.

    const numeric = new Set(["integer16", "integer32", "integer64", "double", "float", "decimal"]);
    const controls = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

    const controlNames =
      "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
        .split(" ");

    // A control character as what can be seen.
    function visible(character) {
      const code = character.codePointAt(0);
      return controlNames[code] ?? "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    }

    function textNodes(text, keepsLines) {
      const parts = [];
      let end = 0;
      for (const match of text.matchAll(controls)) {
        const isLine = match[0] === "\n" || match[0] === "\t";
        if (keepsLines && isLine) continue;
        parts.push(text.slice(end, match.index));
        const isJoiner = match[0] === "\u200d" || match[0] === "\u200c";
        if (isJoiner)
          parts.push(match[0]);
        else if (match[0] === "\n")
          parts.push(el("span", { class: "control" }, "↵"));
        else
          parts.push(el("span", { class: "control" }, visible(match[0])));
        end = match.index + match[0].length;
      }
      parts.push(text.slice(end));
      return parts;
    }

    // Blanks at the ends are seen as dots. They stay in the text, so that it is copied as it is.
    function withBlanks(text, keepsLines) {
      const isBlank = (at) => /\p{Zs}/u.test(text[at] ?? "");
      let [start, end] = [0, text.length];
      while (isBlank(start)) start += 1;
      while (end > start && isBlank(end - 1)) end -= 1;
      return [
        blankNodes(text.slice(0, start)),
        textNodes(text.slice(start, end), keepsLines),
        blankNodes(text.slice(end)),
      ];
    }

    function blankNodes(blanks) {
      if (blanks.length > 40) return [el("span", { class: "blank many", title: plural(blanks.length, "blank") }, blanks)];
      return [...blanks].map((blank) => {
        const title = blank === " " ? null : visible(blank);
        return el("span", { class: "blank", title }, blank);
      });
    }

    const isolated = (text, keepsLines) => el("bdi", { dir: "auto" }, withBlanks(text, keepsLines));

    // Digits in groups of three, which are no part of the text.
    function number(text) {
      const match = /^(-?)(\d{5,})(\..*)?$/.exec(text);
      if (!match) return text;
      const [, sign, digits, rest] = match;
      const groups = [];
      for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
      return [sign, groups.map((group, at) => (at ? el("span", { class: "group" }, group) : group)), rest ?? ""];
    }

    function dateText(text) {
      const match = /^(-?\+?\d{4,6}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(?:\.\d+)?)Z$/.exec(text);
      if (!match) return [text];
      const [, day, minutes, seconds] = match;
      if (minutes === "00:00" && seconds === ":00") return [day];
      return [day, " ", minutes, seconds === ":00" ? "" : el("span", { class: "faint" }, seconds)];
    }

    function dateTitle(text) {
      const date = new Date(text);
      return isNaN(date) ? text : `${text} (UTC)\n${date.toLocaleString()} here\n${ago(text)}`;
    }

    function reference(value) {
      const name = value.label == null ? value.ref : value.label;
      return el("a", { class: "reference", href: objectLink(value.ref), title: value.ref }, isolated(name),
        value.label == null ? null : el("span", { class: "faint id" }, " " + value.ref.split("/")[1]));
    }

    function image(object, name, isLarge, bytes) {
      const query = new URLSearchParams({ id: object, name });
      if (place.at) query.set("at", place.at);
      const picture =
        el("img", { src: `api/value?${query}`, loading: "lazy", alt: name, class: isLarge ? "picture" : "thumb" });
      picture.addEventListener(
        "error", () => picture.replaceWith(el("span", { class: "faint" }, bytes == null ? "no image" : size(bytes))));
      return picture;
    }

    // A value in a cell of a table.
    function cell(value, column, object) {
      if (value == null) return el("span", { class: "none" }, "–");
      if (value === true || value === false) return el("span", { class: value ? "true" : "false" }, String(value));
      if (typeof value === "string") {
        if (numeric.has(column.type)) return el("span", {}, number(value));
        if (column.type === "date") return el("time", { title: dateTitle(value) }, dateText(value));
        if (column.type === "uuid") return el("code", {}, value.toLowerCase());
        return value === "" ? el("span", { class: "none" }, "“”") : isolated(value);
      }
      if (value.ref) return reference(value);
      if (value.cut != null)
        return el("span", {}, isolated(value.cut), el("span", { class: "faint" }, "… " + size(value.bytes)));
      if (value.image || (value.outside != null && value.outside < 4e6))
        return image(object, column.name, false, value.outside);
      if (value.outside != null) return el("span", { class: "faint" }, size(value.outside));
      if (value.bytes != null) return el("span", { class: "faint" }, size(value.bytes));
      if (value.group) return group(value.group, object);
      if (Array.isArray(value)) return el("span", {}, value.map((item) => [cell(item, column, object), " "]));
      return el("span", {}, JSON.stringify(value));
    }

    function group(values, object) {
      const items = Object.entries(values).map(([name, value], at) => {
        return [at ? ", " : "", el("span", { class: "faint" }, name + " "), cell(value, { name, type: "" }, object)];
      });
      return el("span", { class: "composite" }, items);
    }

    // A value in full.
    function whole(value, column, object) {
      const download = new URLSearchParams({ id: object, name: column.name });
      if (place.at) download.set("at", place.at);
      const save = (text) => el("a", { href: `api/value?${download}`, download: true, class: "faint save" }, text);
      if (value == null || value === true || value === false) return cell(value, column, object);
      if (value.cut != null) return [longText(value.cut), save(`… ${size(value.bytes)}: save all of it`)];
      if (value.image)
        return [
          image(object, column.name, true),
          el("div", { class: "faint" }, `${value.image.slice(6)}, ${size(value.bytes)}`)
        ];
      if (value.bytes != null)
        return [el("span", { class: "faint" }, size(value.bytes) + " "), value.bytes ? save("save") : null];
      if (value.group) {
        return el("dl", { class: "values inner" },
          Object.entries(value.group)
            .map(([name, item]) => [el("dt", {}, name),
                   el("dd", {}, whole(item, { name, type: "" }, object)),
        ]));
      }
      if (typeof value !== "string") return cell(value, column, object);
      if (column.type === "date")
        return [
          el("time", { title: dateTitle(value) }, dateText(value)),
          el("span", { class: "faint" }, ` UTC, ${ago(value)}`)
        ];
      if (column.type === "uri" && /^https?:\/\/[^\s]+$/.test(value)) {
        return el("a", { href: value, rel: "noopener noreferrer", target: "_blank" }, isolated(value));
      }
      return column.type === "string" && value !== "" ? longText(value) : cell(value, column, object);
    }

    function longText(text) {
      const json = /^\s*[[{]/.test(text) && text.length < 200000 ? jsonText(text) : null;
      if (json) return json;
      const isLong = text.length > 90 || text.includes("\n");
      return el(isLong ? "div" : "span", { class: isLong ? "text" : null }, isolated(text, true));
    }

    // JSON with indents, in which each value is as it is written: the language would round long numbers and drop repeated names. Null for another
    // text, and for JSON that is too deep.
    function jsonText(text) {
      try {
        JSON.parse(text);
      } catch {
        return null;
      }
      const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g);
      const nodes = [];
      let line = "\n";
      for (const [at, token] of tokens.entries()) {
        const isEmpty = "]}".includes(tokens[at + 1]) && "[{".includes(token);
        if ("[{".includes(token)) {
          if (!isEmpty) line += "  ";
          if (line.length > mostIndent) return null;
          nodes.push(token, isEmpty ? "" : line);
        } else if ("]}".includes(token)) {
          if (!"[{".includes(tokens[at - 1])) nodes.push(line = line.slice(0, -2));
          nodes.push(token);
        } else if (token === ",") nodes.push(",", line);
        else if (token === ":") nodes.push(": ");
        else {
          const kind = token[0] !== '"' ? "number" : tokens[at + 1] === ":" ? "key" : "string";
          nodes.push(el("span", { class: kind }, textNodes(token)));
        }
      }
      return el("pre", { class: "json" }, nodes);
    }

    const mostIndent = 200;
    """#
}
