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
    head += "<metadata>\(escaped(json: JSONWriter.line(.object(document.metadata))))</metadata>\n"
    head += "<model>\(escaped(json: JSONWriter.pretty(document.model)))</model>\n"
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
    let isText = value.isOfMarkup
    text += "  <\(element) name=\"\(escaped(name))\"\(isText ? "" : " encoding=\"base64\"")>"
    text += isText ? escaped(value) : Data(value.utf8).base64EncodedString()
    text += "</\(element)>\n"
  }

  /// JSON, which has escapes of its own for the characters that XML does not have.
  private static func escaped(json: String) -> String {
    guard !json.isOfMarkup else { return escaped(json) }
    var text = ""
    for scalar in json.unicodeScalars {
      if scalar.isOfMarkup {
        text.unicodeScalars.append(scalar)
      } else {
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return escaped(text)
  }

  private static func escaped(_ text: String) -> String { text.escapedForMarkup(keepingLines: true) }
}
