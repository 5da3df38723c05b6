/// Formats JSON that parses to the same value.
package enum JSONWriter {
  /// The value on one line, with a space after commas and colons.
  package static func line(_ value: JSONValue) -> String {
    var text = ""
    append(value, to: &text, indent: nil)
    return text
  }

  /// The value on several indented lines.
  package static func pretty(_ value: JSONValue) -> String {
    var text = ""
    append(value, to: &text, indent: 0)
    return text
  }

  private static func append(_ value: JSONValue, to text: inout String, indent: Int?) {
    switch value {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    case .integer(let number): text += "\(number)"
    case .fraction(_, let digits): text += digits
    case .string(let string): appendString(string, to: &text)
    case .array(let values):
      appendList(values, "[", "]", to: &text, indent) { append($0, to: &$1, indent: $2) }
    case .object(let object):
      appendList(object.members, "{", "}", to: &text, indent) {
        appendString($0.name, to: &$1)
        $1 += ": "
        append($0.value, to: &$1, indent: $2)
      }
    }
  }

  private static func appendList<Element>(
    _ elements: [Element], _ opening: String, _ closing: String, to text: inout String, _ indent: Int?,
    _ appendElement: (Element, inout String, Int?) -> Void
  ) {
    let inner = indent.map { $0 + 2 }
    text += opening
    for (index, element) in elements.enumerated() {
      if index > 0 { text += indent == nil ? ", " : "," }
      if let inner { text += "\n" + String(repeating: " ", count: inner) }
      appendElement(element, &text, inner)
    }
    if let indent, !elements.isEmpty { text += "\n" + String(repeating: " ", count: indent) }
    text += closing
  }

  private static func appendString(_ string: String, to text: inout String) {
    text += "\""
    if !string.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 == 0x7F }) {
      text += string
      text += "\""
      return
    }
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..<"\u{20}", "\u{7F}": text += "\\u" + hexadecimal(scalar.value)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  private static func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}
