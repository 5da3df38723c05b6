/// The answer to a message of the compiler.
package enum PluginResponse: Encodable {
  /// The version of the protocol.
  case capability(version: Int)
  /// Source in place of a macro, or none, with what is wrong.
  case expansion(String?, [PluginDiagnostic])
  /// The answer to a message that is not known.
  case unknown

  private enum Key: String, CodingKey {
    case getCapabilityResult, expandMacroResult, capability, protocolVersion, features, expandedSource,
      diagnostics
    case loadPluginLibraryResult, loaded
  }

  package func encode(to encoder: any Encoder) throws {
    var message = encoder.container(keyedBy: Key.self)
    switch self {
    case .capability(let version):
      var result = message.nestedContainer(keyedBy: Key.self, forKey: .getCapabilityResult)
      var capability = result.nestedContainer(keyedBy: Key.self, forKey: .capability)
      try capability.encode(version, forKey: .protocolVersion)
      try capability.encode([String](), forKey: .features)
    case .expansion(let source, let diagnostics):
      var result = message.nestedContainer(keyedBy: Key.self, forKey: .expandMacroResult)
      try result.encode(source, forKey: .expandedSource)
      try result.encode(diagnostics, forKey: .diagnostics)
    case .unknown:
      var result = message.nestedContainer(keyedBy: Key.self, forKey: .loadPluginLibraryResult)
      try result.encode(false, forKey: .loaded)
      try result.encode([PluginDiagnostic](), forKey: .diagnostics)
    }
  }
}

/// An error or a warning at a place of a source.
package struct PluginDiagnostic: Encodable, Equatable, Sendable {
  package struct Position: Encodable, Equatable, Sendable {
    package var fileName: String
    package var offset: Int
  }

  package struct Range: Encodable, Equatable, Sendable {
    package var fileName: String
    package var startOffset: Int
    package var endOffset: Int
  }

  package struct Change: Encodable, Equatable, Sendable {
    package var range: Range
    package var newText: String
  }

  package struct FixIt: Encodable, Equatable, Sendable {
    package var message: String
    package var changes: [Change]
  }

  package struct Note: Encodable, Equatable, Sendable {
    package var position: Position
    package var message: String
  }

  package var message: String
  package var severity = "error"
  package var position: Position
  package var highlights: [Range] = []
  package var notes: [Note] = []
  package var fixIts: [FixIt] = []
}

/// An error in the source that a macro was given. Ranges are bytes of that source.
struct ExpansionError: Error {
  /// A replacement of a range, and what it does.
  struct Fix {
    var message: String
    var range: Range<Int>
    var text: String
  }

  var message: String
  var range: Range<Int>
  var fix: Fix?
  /// Whether the source compiles nevertheless.
  var isWarning: Bool

  init(_ message: String, at range: Range<Int>, fix: Fix? = nil, isWarning: Bool = false) {
    (self.message, self.range, self.fix, self.isWarning) = (message, range, fix, isWarning)
  }

  func diagnostic(in syntax: PluginRequest.Syntax) -> PluginDiagnostic {
    let (file, start) = (syntax.location.fileName, syntax.location.offset)
    func place(_ range: Range<Int>) -> PluginDiagnostic.Range {
      .init(fileName: file, startOffset: start + range.lowerBound, endOffset: start + range.upperBound)
    }
    let fixIts = fix.map { fix in
      [
        PluginDiagnostic.FixIt(
          message: fix.message, changes: [.init(range: place(fix.range), newText: fix.text)])
      ]
    }
    return PluginDiagnostic(
      message: message, severity: isWarning ? "warning" : "error",
      position: .init(fileName: file, offset: start + range.lowerBound),
      highlights: [place(range)], fixIts: fixIts ?? [])
  }
}
