@testable import SwiftDataExpansion

/// The expansion of a piece of source by a macro, as the compiler asks for it.
struct Expanding {
  let given: String
  /// The expansion; nil where there is none.
  private(set) var source: String?
  private(set) var diagnostics: [PluginDiagnostic] = []
  /// Where the piece begins in its file, so that a place in the piece is not one of the file by chance.
  private static let offset = 1000

  /// The answer to a request about a piece of source.
  init(_ request: PluginRequest, _ source: String) {
    given = source
    read(Expansion.answer(request))
  }

  /// The expansion of an attribute.
  init(
    _ macro: String, _ role: String, _ source: String, missing: String? = nil, of type: String? = nil,
    configuration: String? = nil
  ) {
    given = source
    read(
      Expansion.answer(
        PluginRequest(
          expandAttachedMacro: .init(
            macro: Self.reference(macro), macroRole: role, attributeSyntax: Self.syntax("@" + macro),
            declSyntax: Self.syntax(source), extendedTypeSyntax: type.map(Self.syntax),
            conformanceListSyntax: missing.map(Self.syntax), staticBuildConfiguration: configuration))))
  }

  /// The expansion of an expression or a declaration that begins with `#`.
  init(freestanding macro: String, _ source: String) {
    given = source
    read(
      Expansion.answer(
        PluginRequest(
          expandFreestandingMacro: .init(macro: Self.reference(macro), syntax: Self.syntax(source)))))
  }

  private static func reference(_ name: String) -> PluginRequest.MacroReference {
    .init(moduleName: "SwiftDataMacros", typeName: name, name: name)
  }

  static func syntax(_ source: String) -> PluginRequest.Syntax {
    .init(source: source, location: .init(fileName: "Trip.swift", offset: offset))
  }

  private mutating func read(_ answer: PluginResponse) {
    guard case .expansion(let source, let diagnostics) = answer else { return }
    (self.source, self.diagnostics) = (source, diagnostics)
  }

  /// The diagnostics, each as `line:column: message`.
  var messages: [String] {
    diagnostics.map { "\(place(of: $0.position.offset)): \($0.message)" }
  }

  /// The source with the first fix-it of the first diagnostic applied; nil without one.
  var fixed: String? {
    guard let change = diagnostics.first?.fixIts.first?.changes.first else { return nil }
    var bytes = Array(given.utf8)
    let (start, end) = (change.range.startOffset - Self.offset, change.range.endOffset - Self.offset)
    bytes.replaceSubrange(start..<end, with: Array(change.newText.utf8))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text that the first diagnostic marks.
  var marked: String? {
    guard let range = diagnostics.first?.highlights.first else { return nil }
    return String(
      decoding: Array(given.utf8)[(range.startOffset - Self.offset)..<(range.endOffset - Self.offset)],
      as: UTF8.self)
  }

  /// Whether all places are inside the source, in their order.
  var hasPlacesInside: Bool {
    let inside = Self.offset...(Self.offset + given.utf8.count)
    return diagnostics.allSatisfy { diagnostic in
      inside.contains(diagnostic.position.offset)
        && diagnostic.highlights.allSatisfy {
          inside.contains($0.startOffset) && inside.contains($0.endOffset) && $0.startOffset <= $0.endOffset
        }
    }
  }

  private func place(of offset: Int) -> String {
    let before = given.utf8.prefix(offset - Self.offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let column =
      before.count
      - (before.lastIndex(of: UInt8(ascii: "\n")).map { before.distance(from: before.startIndex, to: $0) + 1 }
        ?? 0) + 1
    return "\(line):\(column)"
  }
}
