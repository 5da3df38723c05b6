extension PageScript {
  /// The diagram of the model.
  static let model = #"""
    // ---- The model: the diagram, in which each entity leads to its objects.

    async function showModel() {
      table = null;
      const drawing = el("div", { class: "drawing" });
      const fit = button("fit", () => fitDrawing(drawing, fit), { "aria-pressed": "false", hidden: true });
      const scroll = el("div", { class: "scroll padded", tabindex: "0" }, drawing);
      fill($("main"),
        el("div", { class: "heading" }, el("h1", {}, "Model"),
          el("span", { class: "faint" }, plural(overview.entities.length, "entity").replace("entitys", "entities")),
          el("span", { class: "space" }), fit,
          el("span", { class: "downloads" }, el("a", { href: "api/diagram.svg", download: "model.svg" }, "SVG"))),
        scroll);
      const diagram = await askOnly("diagram", "diagram");
      const picture = el("img",
        { src: "api/diagram.svg", alt: "The diagram of the model", width: diagram.width, height: diagram.height });
      fill(drawing, picture, diagram.entities.map((box) => {
        const node = el("a", {
          href: tableLink(box.name),
          "aria-label": box.name,
          title: `${box.name}: ${plural(entityNamed(box.name)?.count ?? 0, "object")}`
        });
        Object.assign(
          node.style, { left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` });
        return node;
      }));
      fit.hidden = drawing.offsetWidth <= roomFor(drawing);
      showBox(drawing, place.entity);
    }

    // Scrolls to the entity that was looked at, as large diagrams have empty corners.
    function showBox(drawing, name) {
      const box = [...drawing.querySelectorAll("a")].find((node) => node.ariaLabel === name);
      (box ?? drawing.querySelector("a"))?.scrollIntoView({ block: "center", inline: "center" });
    }

    function roomFor(drawing) {
      const { paddingLeft, paddingRight } = getComputedStyle(drawing.parentNode);
      return drawing.parentNode.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    }

    // The diagram as wide as there is room, or in its own size.
    function fitDrawing(drawing, fit) {
      const isFitted = fit.getAttribute("aria-pressed") === "true";
      drawing.style.zoom = isFitted ? 1 : roomFor(drawing) / drawing.offsetWidth;
      fit.setAttribute("aria-pressed", String(!isFitted));
      if (isFitted)
        showBox(drawing, place.entity);
      else
        drawing.parentNode.scrollTo(0, 0);
    }
    """#
}
