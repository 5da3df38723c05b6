extension String {
  /// The text as it is written in XML.
  ///
  /// - Parameter keepingLines: Whether line feeds and tabs stay as they are. In attributes, reading makes spaces of them.
  package func escapedForMarkup(keepingLines: Bool) -> String {
    guard utf8.contains(where: { "&<>\"\r\n\t".utf8.contains($0) }) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "\r": text += "&#13;"
      case "\n" where !keepingLines: text += "&#10;"
      case "\t" where !keepingLines: text += "&#9;"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  /// Whether XML can have the character at all, written as it is or as a reference.
  package var isOfMarkup: Bool {
    switch value {
    case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: true
    default: false
    }
  }
}
