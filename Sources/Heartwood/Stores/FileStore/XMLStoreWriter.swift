import Foundation
import HeartwoodFiles

/// The XML form: one block for each object, in a fixed order.
enum XMLStoreWriter {
  static let format = "1"

  static func write(_ document: StoreDocument, _ contents: some StoreReading, to output: inout FileOutput)
    throws
  {
    var head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    head +=
      "<heartwood version=\"\(format)\" identifier=\"\(document.identifier.uuidString)\" saves=\"\(document.saves)\">\n"
    for (entity, key) in document.nextKeys {
      head += "<nextKey entity=\"\(escaped(entity))\">\(key)</nextKey>\n"
    }
    head += "<metadata>\(escaped(JSONWriter.line(.object(document.metadata))))</metadata>\n"
    head += "<model>\(escaped(JSONWriter.pretty(document.model)))</model>\n"
    try output.append(head)
    try StoreDocument.forEachObject(contents) { object in
      var text =
        "<object entity=\"\(escaped(object.entity.displayName))\" key=\"\(object.key)\" version=\"\(object.version)\">\n"
      for (name, value) in object.attributes {
        append("attribute", name, StoreDocumentValue.text(value), to: &text)
      }
      for (name, value) in object.relationships {
        append("relationship", name, StoreDocumentValue.text(value), to: &text)
      }
      try output.append(text + "</object>\n")
    }
    try output.append("</heartwood>\n")
  }

  private static func append(_ element: String, _ name: String, _ value: String, to text: inout String) {
    let isText = value.unicodeScalars.allSatisfy(isAllowed)
    text += "  <\(element) name=\"\(escaped(name))\"\(isText ? "" : " encoding=\"base64\"")>"
    text += isText ? escaped(value) : Data(value.utf8).base64EncodedString()
    text += "</\(element)>\n"
  }

  /// Whether XML can have a character at all.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: true
    default: false
    }
  }

  private static func escaped(_ text: String) -> String { text.escapedForMarkup(keepingLines: true) }
}
