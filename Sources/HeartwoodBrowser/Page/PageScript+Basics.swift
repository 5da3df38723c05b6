extension PageScript {
  /// Elements, the place that the address names, requests, numbers and dates.
  static let basics = #"""
    "use strict";

    // ---- Elements. Texts are set as texts: nothing of a store is ever read as markup.

    const $ = (id) => document.getElementById(id);

    function el(tag, properties, ...children) {
      const node = document.createElement(tag);
      for (const [name, value] of Object.entries(properties ?? {})) {
        if (value == null || value === false) continue;
        if (name.startsWith("on"))
          node.addEventListener(name.slice(2), value);
        else
          node.setAttribute(name, value === true ? "" : value);
      }
      node.append(...children.flat(2).filter((child) => child != null && child !== false));
      return node;
    }

    function fill(node, ...children) {
      node.replaceChildren(...children.flat(2).filter((child) => child != null && child !== false));
    }

    function button(text, act, properties) {
      return el("button", { type: "button", onclick: act, ...properties }, text);
    }

    // ---- The place: what is shown is in the address behind #, so that it can be kept as a bookmark.

    const names = ["view", "entity", "where", "sort", "offset", "by", "of", "id", "at", "time"];
    let place = {};

    function placeOf(hash) {
      const given = new URLSearchParams(hash.replace(/^#/, ""));
      const found = {};
      for (const name of names)
        if (given.get(name)) found[name] = given.get(name);
      return found;
    }

    function link(changes) {
      const next = {...place, ...changes };
      const text = new URLSearchParams();
      for (const name of names)
        if (next[name] != null && next[name] !== "") text.set(name, next[name]);
      return "#" + text;
    }

    function go(changes, isSilent) {
      const hash = link(changes);
      if (hash === location.hash) return render();
      // A key that follows at once goes on from there: the browser tells of the new address later.
      place = placeOf(hash);
      if (isSilent) {
        history.replaceState(null, "", hash);
        render();
      } else
        location.hash = hash;
    }

    const objectLink = (id) => link({ id });

    function tableLink(entity, more) {
      return link(
        { view: null, entity, where: null, sort: null, offset: null, by: null, of: null, id: null, ...more });
    }

    // ---- Requests.

    class Failure extends Error {
      constructor(answer) {
        super(answer.error);
        this.column = answer.column;
      }
    }

    async function ask(name, query, signal) {
      const text = new URLSearchParams();
      for (const [key, value] of Object.entries(query ?? {}))
        if (value != null && value !== "") text.set(key, value);
      let response;
      try {
        response = await fetch(`api/${name}?${text}`, { signal });
      } catch (error) {
        if (error.name !== "AbortError") lost(true);
        throw error;
      }
      lost(false);
      const isJSON = response.headers.get("content-type")?.startsWith("application/json");
      const answer = isJSON ? await response.json() : { error: await response.text() };
      if (!response.ok) throw new Failure(answer);
      return answer;
    }

    // One request of a kind at a time: a newer one ends the older one.
    const running = {};

    function askOnly(kind, name, query) {
      running[kind]?.abort();
      running[kind] = new AbortController();
      return ask(name, query, running[kind].signal);
    }

    const isAborted = (error) => error.name === "AbortError";

    function lost(isLost) {
      document.body.classList.toggle("lost", isLost);
      if (isLost) showState();
    }

    function say(text) { $("said").textContent = text; }

    function later(wait, act) {
      let timer;
      return (...given) => {
        clearTimeout(timer);
        timer = setTimeout(() => act(...given), wait);
      };
    }

    // Acts a while after a call. Calls until it has acted lead to one more time, however many they are and however long it takes.
    function paced(wait, act) {
      let [isActing, isAsked] = [false, false];
      return async () => {
        isAsked = true;
        if (isActing) return;
        isActing = true;
        while (isAsked) {
          await new Promise((done) => setTimeout(done, wait));
          isAsked = false;
          await act();
        }
        isActing = false;
      };
    }

    // ---- Numbers and dates.

    const count = (number) => number.toLocaleString("en").replaceAll(",", "\u202f");
    const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

    function size(bytes) {
      const units = ["bytes", "KB", "MB", "GB"];
      let unit = 0;
      while (bytes >= 1000 && unit < units.length - 1) {
        bytes /= 1000;
        unit += 1;
      }
      return unit === 0 ? plural(bytes, "byte")
                        : `${bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
    }

    function duration(microseconds) {
      if (microseconds < 1000) return `${microseconds} µs`;
      return microseconds < 1e6 ? `${(microseconds / 1000).toFixed(1)} ms` : `${(microseconds / 1e6).toFixed(2)} s`;
    }

    function ago(text) {
      const seconds = (Date.now() - Date.parse(text)) / 1000;
      if (!(Math.abs(seconds) < 4e9)) return "";
      const steps = [[60, "second"], [60, "minute"], [24, "hour"], [30.4, "day"], [12, "month"], [1e9, "year"]];
      let number = seconds;
      for (const [length, unit] of steps) {
        if (Math.abs(number) < length) {
          return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.round(number), unit);
        }
        number /= length;
      }
      return "";
    }
    """#
}
