/// The keys that a terminal sends.
///
/// Source of the sequences: ECMA-48 and the documentation of xterm, "Control Sequences".
struct KeyDecoder {
  private let hasMore: () -> Bool
  private let next: () -> UInt8?

  /// - Parameters:
  ///   - hasMore: Whether a byte follows at once, as in a sequence. The key Escape is a byte that nothing follows.
  ///   - next: Reads one byte; nil at the end of the input.
  init(hasMore: @escaping () -> Bool, _ next: @escaping () -> UInt8?) {
    (self.hasMore, self.next) = (hasMore, next)
  }

  /// The next key; nil at the end of the input.
  func key() -> LineEditor.Key? {
    guard let byte = next() else { return nil }
    switch byte {
    case 1: return .home
    case 2: return .left
    case 3: return .interrupt
    case 4: return .endOfInput
    case 5: return .end
    case 6: return .right
    case 8, 127: return .backspace
    case 9: return .complete
    case 10, 13: return .enter
    case 11: return .deleteToEnd
    case 12: return .clearScreen
    case 14: return .down
    case 16: return .up
    case 21: return .deleteToStart
    case 23: return .deleteWord
    case 27: return escaped()
    case 0..<32: return .unknown
    default: return text(byte)
    }
  }

  private func escaped() -> LineEditor.Key? {
    guard hasMore() else { return .escape }
    guard let byte = next() else { return nil }
    switch byte {
    case UInt8(ascii: "b"): return .wordLeft
    case UInt8(ascii: "f"): return .wordRight
    case UInt8(ascii: "["), UInt8(ascii: "O"): return sequence()
    default: return .unknown
    }
  }

  private func sequence() -> LineEditor.Key? {
    var parameters: [UInt8] = []
    while let byte = next() {
      guard byte < 0x40 else {
        let isOfWord = parameters.contains(UInt8(ascii: ";"))
        switch byte {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isOfWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isOfWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "~"):
          switch parameters.first {
          case UInt8(ascii: "1"), UInt8(ascii: "7"): return .home
          case UInt8(ascii: "4"), UInt8(ascii: "8"): return .end
          case UInt8(ascii: "3"): return .delete
          case UInt8(ascii: "5"): return .pageUp
          case UInt8(ascii: "6"): return .pageDown
          default: return .unknown
          }
        default: return .unknown
        }
      }
      parameters.append(byte)
    }
    return nil
  }

  private func text(_ first: UInt8) -> LineEditor.Key {
    var bytes = [first]
    let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
    while bytes.count < count, let byte = next() { bytes.append(byte) }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.count == 1 ? .text(text.first ?? " ") : .unknown
  }
}
