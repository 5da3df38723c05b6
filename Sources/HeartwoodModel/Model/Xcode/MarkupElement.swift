import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// An element of an XML document, with its attributes, its elements, and the text before, between and after these.
package struct MarkupElement {
  package let name: String
  package var attributes: [String: String]
  package var children: [MarkupElement] = []
  package var text = ""
  /// The line of the document, from 1.
  package var line = 0

  init(_ name: String, _ attributes: [String: String] = [:], line: Int = 0) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  /// The root element of a document. External entities are not loaded.
  ///
  /// - Parameters:
  ///   - data: The document.
  ///   - file: Its name in messages.
  /// - Throws: `.coreData` if it is no XML in UTF-8, its elements are nested too deep, something follows the root element, or an entity is
  ///   declared by others.
  package init(document data: Data, file: String) throws(HeartwoodError) {
    guard !data.isEmpty else { throw HeartwoodError(.coreData, "\(file) is no XML: it is empty") }
    // Foundation's parser traps on names that are not.
    guard String(validating: data, as: UTF8.self) != nil else {
      throw HeartwoodError(.coreData, "\(file) is no XML: it is not in UTF-8")
    }
    let parser = XMLParser(data: try MarkupInstructions.separated(data, file: file))
    let builder = MarkupBuilder()
    parser.delegate = builder
    parser.shouldResolveExternalEntities = false
    guard parser.parse(), let root = builder.root else {
      throw HeartwoodError(
        .coreData,
        "\(file) is no XML: \(builder.problem ?? "it cannot be read") near line \(parser.lineNumber)",
        underlying: parser.parserError)
    }
    // Foundation's parser reads one element, and nothing after it.
    if let line = MarkupEnd.lineOfRest(in: data) {
      throw HeartwoodError(
        .coreData,
        "\(file), line \(line): there is something after the end of <\(root.name)>, such as what is left of a merge: remove it"
      )
    }
    self = root
  }
}

private final class MarkupBuilder: NSObject, XMLParserDelegate {
  private static let deepest = 64
  private(set) var root: MarkupElement?
  private(set) var problem: String?
  private var open: [MarkupElement] = []

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    guard open.count < Self.deepest else {
      problem = "more than \(Self.deepest) elements are inside of each other"
      return parser.abortParsing()
    }
    open.append(MarkupElement(name, attributes, line: parser.lineNumber))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard let element = open.popLast() else { return }
    if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if !open.isEmpty { open[open.count - 1].text += string }
  }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    self.parser(parser, foundCharacters: String(decoding: block, as: UTF8.self))
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    if problem == nil { problem = "error \((error as NSError).code) of the parser" }
  }
}

/// The attributes of an element, taken one by one, so that those that are left are known.
package struct MarkupFields {
  private(set) var left: [String: String]

  init(_ element: MarkupElement) {
    left = element.attributes
  }

  mutating func take(_ name: String) -> String? { left.removeValue(forKey: name) }

  /// A text that is not empty.
  mutating func text(_ name: String) -> String? { take(name).flatMap { $0.isEmpty ? nil : $0 } }

  /// Xcode writes `YES`; other tools, and people, write what means the same.
  package static func isYes(_ text: String?) -> Bool { ["YES", "TRUE", "1"].contains(text?.uppercased()) }

  package static func isNo(_ text: String?) -> Bool { ["NO", "FALSE", "0"].contains(text?.uppercased()) }
}
