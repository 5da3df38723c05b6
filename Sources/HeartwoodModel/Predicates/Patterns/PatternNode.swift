/// A part of a regular expression.
indirect enum PatternNode {
  case empty
  case one(ScalarSet.Node)
  case sequence([PatternNode])
  case choice([PatternNode])
  case repeated(PatternNode, least: Int, most: Int?, isLazy: Bool)
  /// A group that is remembered, by its number from 1.
  case group(PatternNode, Int)
  /// A text that is the same as a group has matched.
  case same(Int, ignoresCase: Bool)
  case place(PatternPlace)
  /// Whether something follows or precedes.
  case look(PatternNode, isBehind: Bool, isNegated: Bool)
  /// A part whose first match is not tried in other ways.
  case atomic(PatternNode)
}

/// A condition on a position in a text.
enum PatternPlace: Sendable {
  case start, end, lineStart, lineEnd
  /// The end, or before what ends the last line.
  case lastEnd
  case wordBoundary, noWordBoundary

  func holds(_ text: [UInt32], at position: Int) -> Bool {
    switch self {
    case .start: position == 0
    case .end: position == text.count
    case .lastEnd: isAtLastEnd(text, position)
    case .lineStart:
      position == 0
        || position < text.count && Self.endsLine(text, position - 1)
    case .lineEnd:
      position == text.count || ScalarProperty.isLineEnd(text[position]) && !isInside(text, position)
    case .wordBoundary: isWordBoundary(text, position)
    case .noWordBoundary: !isWordBoundary(text, position)
    }
  }

  /// Whether a position is between a carriage return and a line feed.
  private func isInside(_ text: [UInt32], _ position: Int) -> Bool {
    position > 0 && position < text.count && text[position - 1] == 0x0D && text[position] == 0x0A
  }

  private static func endsLine(_ text: [UInt32], _ position: Int) -> Bool {
    guard ScalarProperty.isLineEnd(text[position]) else { return false }
    return text[position] != 0x0D || position + 1 >= text.count || text[position + 1] != 0x0A
  }

  private func isAtLastEnd(_ text: [UInt32], _ position: Int) -> Bool {
    let left = text.count - position
    if left == 0 { return true }
    if left == 1 { return ScalarProperty.isLineEnd(text[position]) && !isInside(text, position) }
    return left == 2 && text[position] == 0x0D && text[position + 1] == 0x0A
  }

  private func isWordBoundary(_ text: [UInt32], _ position: Int) -> Bool {
    let before = position > 0 && Self.isOfWord(text[position - 1])
    let after = position < text.count && Self.isOfWord(text[position])
    return before != after
  }

  private static func isOfWord(_ scalar: UInt32) -> Bool {
    Unicode.Scalar(scalar).map(ScalarProperty.isOfWord) ?? false
  }
}
