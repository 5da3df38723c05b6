extension PageScript {
  /// The diagram of the model.
  static let model = #"""
    // ---- The model: the diagram, in which each entity leads to its objects.

    async function showModel() {
      table = null;
      const drawing = el("div", { class: "drawing" });
      const scroll = el("div", { class: "scroll padded", tabindex: "0" }, drawing);
      fill($("main"),
        el("div", { class: "heading" }, el("h1", {}, "Model"),
          el("span", { class: "faint" }, plural(overview.entities.length, "entity").replace("entitys", "entities")),
          el("span", { class: "space" }),
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
    }
    """#
}
