import Foundation
import HeartwoodArchives

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
    guard let text = String(validating: data, as: UTF8.self) else {
      throw HeartwoodError(.coreData, "\(file) is no XML: it is not in UTF-8")
    }
    guard text.isOfMarkup else {
      throw HeartwoodError(.coreData, "\(file) is no XML: it has a character that XML does not have")
    }
    if let encoding = Self.declaredEncoding(text),
      !Self.supersets.contains(where: encoding.lowercased().hasPrefix)
    {
      throw HeartwoodError(
        .coreData, "\(file) is no XML that can be read: it is not in UTF-8, but in \(encoding)")
    }
    var scanner = MarkupScanner(Array(data), deepest: 64, documentTypes: .declaring)
    do throws(ArchiveError) {
      self = try Self.root(&scanner)
    } catch {
      throw HeartwoodError(
        .coreData, "\(file) is no XML that can be read: \(error.message), near line \(scanner.line())",
        underlying: error)
    }
    if let line = scanner.lineOfRest() {
      throw HeartwoodError(
        .coreData,
        "\(file), line \(line): there is something after the end of <\(name)>, such as what is left of a merge: remove it"
      )
    }
  }

  private static func root(_ scanner: inout MarkupScanner) throws(ArchiveError) -> MarkupElement {
    var open: [MarkupElement] = []
    while let part = try open.isEmpty ? scanner.nextElement() : scanner.next() {
      switch part {
      case .start(let name, let attributes):
        open.append(MarkupElement(name, attributes, line: scanner.line()))
      case .text(let text): open[open.count - 1].text += text
      case .end:
        let element = open.removeLast()
        if open.isEmpty { return element }
        open[open.count - 1].children.append(element)
      }
    }
    throw ArchiveError("there is no element")
  }

  /// The encoding that the declaration of the document names; nil for none.
  private static func declaredEncoding(_ text: String) -> String? {
    let declaration = text.prefix { $0 != ">" }
    guard declaration.contains("<?xml"), let name = declaration.range(of: "encoding") else { return nil }
    let parts = declaration[name.upperBound...].split(
      omittingEmptySubsequences: false, whereSeparator: { $0 == "\"" || $0 == "'" })
    return parts.count > 1 ? String(parts[1]) : nil
  }

  private static let supersets = [
    "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "windows-125", "macintosh",
  ]
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
