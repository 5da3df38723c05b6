/// The number of terminal columns of a text: two for East Asian wide characters and emoji, none for combining
/// marks.
enum TextWidth {
  static func columns(of text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns(of: $1) }
  }

  static func columns(of character: Character) -> Int {
    var widest = 0
    for scalar in character.unicodeScalars {
      if scalar.value == 0xFE0F { return 2 }
      widest = max(widest, columns(of: scalar))
    }
    return widest
  }

  private static func columns(of scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return scalar.value == 0xAD ? 0 : 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if 0x1160...0x11FF ~= scalar.value { return 0 }
    return isWide(scalar.value) || scalar.properties.isEmojiPresentation ? 2 : 1
  }

  private static func isWide(_ value: UInt32) -> Bool {
    wideRanges.contains { $0 ~= value }
  }

  /// The blocks of Hangul, kana, Han, full-width forms and their symbols.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
    0x17000...0x18CFF, 0x1B000...0x1B2FF, 0x20000...0x3FFFD,
  ]
}

extension String {
  /// The text with escapes for characters that would disturb a terminal or break the lines of a table.
  var escapingControls: String {
    guard unicodeScalars.contains(where: \.disturbsTerminal) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.disturbsTerminal: text += "\\u{\(String(scalar.value, radix: 16))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  /// The text with a sign for each blank at its ends, which are not seen otherwise.
  var showingBlanks: String {
    func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .spaceSeparator }
    guard let first = unicodeScalars.first, let last = unicodeScalars.last, isBlank(first) || isBlank(last)
    else { return self }
    let before = unicodeScalars.prefix(while: isBlank)
    let rest = unicodeScalars[before.endIndex...]
    let after = rest.reversed().prefix(while: isBlank).reversed()
    func signs(_ blanks: some Sequence<Unicode.Scalar>) -> String {
      blanks.map { $0 == " " ? "\u{2423}" : "\\u{\(String($0.value, radix: 16))}" }.joined()
    }
    return signs(before) + String(rest.dropLast(after.count)) + signs(after)
  }

  /// The text truncated to this many columns. A truncated text ends with an ellipsis.
  func cut(toColumns limit: Int) -> String {
    guard TextWidth.columns(of: self) > limit else { return self }
    var text = ""
    var width = 0
    for character in self {
      let next = TextWidth.columns(of: character)
      guard width + next < limit else { break }
      text.append(character)
      width += next
    }
    return text + "\u{2026}"
  }

  func padded(toColumns width: Int, onLeft: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - TextWidth.columns(of: self)))
    return onLeft ? space + self : self + space
  }
}

extension Unicode.Scalar {
  /// Whether the character is a control character or changes the direction of the following text.
  fileprivate var disturbsTerminal: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: true
    default: false
    }
  }
}
