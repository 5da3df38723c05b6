import Heartwood

/// The forms in which a model is written.
enum ModelFormat: String, CaseIterable {
  case text, json, mermaid, dot, svg

  static let option = SubcommandSyntax.Option(
    name: "format", value: "text|json|mermaid|dot|svg",
    summary: "text, a file to edit and give to import, or a diagram (default text)")

  func write(_ model: DocumentModel, to console: any Console) throws(CommandFailure) {
    switch self {
    case .text: try console.write(ModelText.text(model))
    case .json: try console.writeLine(JSONWriter.pretty(model.json))
    case .mermaid: try console.write(MermaidDiagram.text(model))
    case .dot: try console.write(DotDiagram.text(model))
    case .svg: try console.write(SVGDiagram.text(model))
    }
  }
}
