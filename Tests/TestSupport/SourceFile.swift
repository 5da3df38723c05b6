import Foundation

/// A Swift source file, as far as names are concerned: the types that it declares and the capitalised names that it uses.
package struct SourceFile: Sendable {
  /// Relative to the folder that was searched.
  package let path: String
  /// The path's folder; "" for the folder that was searched.
  package let folder: String
  /// Types and type aliases at the top level that other files can use.
  package let declaredTypes: Set<String>
  /// Capitalised names outside comments and string literals, except members: `Inner` of `Outer.Inner` is not one.
  package let usedNames: Set<String>
  /// Whether it handles memory without a length or an owner: pointers, except buffers that are only read; `Unmanaged`;
  /// `unsafeBitCast`, `nonisolated(unsafe)` and the like.
  package let usesRawMemory: Bool
  /// Whether a type in it is `@unchecked Sendable`.
  package let hasUncheckedSendable: Bool

  package init(path: String, text: String) {
    self.path = path
    folder = path.split(separator: "/").dropLast().joined(separator: "/")
    var words = SourceWords(text)
    var declared: Set<String> = []
    var used: Set<String> = []
    var (isRaw, isUnchecked, last) = (false, false, "")
    while let word = words.next() {
      isRaw = isRaw || Self.isRaw(word.text)
      isUnchecked = isUnchecked || (last == "unchecked" && word.text == "Sendable")
      last = word.text
      if !word.isMember, Self.keywords.contains(word.text) {
        let isPrivate = words.takePrivacy()
        // A nested type is declared, too, though not for other files.
        if let name = words.next(), word.depth == 0, !isPrivate { declared.insert(name.text) }
      } else if word.text.first?.isUppercase == true, !word.isMember {
        used.insert(word.text)
      }
    }
    declaredTypes = declared
    usedNames = used
    usesRawMemory = isRaw
    hasUncheckedSendable = isUnchecked
  }

  /// A buffer that is only read has a length, which debug builds check, and is how bytes are lent to a call.
  private static func isRaw(_ word: String) -> Bool {
    let word = word.drop { $0 == "_" }
    return word != "UnsafeRawBufferPointer" && word != "withUnsafeBytes"
      && ["Unsafe", "unsafe", "withUnsafe", "Unmanaged", "baseAddress"].contains(where: word.hasPrefix)
  }

  private static let keywords: Set<String> = ["class", "struct", "enum", "protocol", "actor", "typealias"]

  /// All Swift files in a folder and the folders in it, in the order of their paths.
  package static func all(in folder: String) throws -> [SourceFile] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return try names.filter { $0.hasSuffix(".swift") }.sorted().map { path in
      SourceFile(path: path, text: try String(contentsOfFile: folder + "/" + path, encoding: .utf8))
    }
  }
}

/// The words of a source text outside comments and string literals, with what matters around them.
private struct SourceWords {
  struct Word {
    let text: String
    /// Number of open braces before it.
    let depth: Int
    /// Whether a dot precedes it.
    let isMember: Bool
  }

  private let bytes: [UInt8]
  private var index = 0
  /// Number of open braces and parentheses.
  private var (depth, parentheses) = (0, 0)
  /// The string literals around this place: the quote that ends each, and the open parentheses before its interpolation.
  private var interpolated: [(quote: StaticString, parentheses: Int)] = []
  /// Whether the last modifier of a declaration at the top level was a private one.
  private var isPrivate = false

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func next() -> Word? {
    while index < bytes.count {
      if skipComment() || skipString() { continue }
      let byte = bytes[index]
      if Self.isPart(byte) {
        let word = word()
        if depth == 0 { notePrivacy(of: word.text) }
        return word
      }
      index += 1
      switch byte {
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: "("): parentheses += 1
      case UInt8(ascii: ")"):
        parentheses -= 1
        endInterpolation()
      default: break
      }
    }
    return nil
  }

  /// Whether the type whose keyword was read is private.
  mutating func takePrivacy() -> Bool {
    defer { isPrivate = false }
    return isPrivate
  }

  private mutating func notePrivacy(of word: String) {
    if word == "private" || word == "fileprivate" { isPrivate = true }
    if ["let", "var", "func", "extension"].contains(word) { isPrivate = false }
  }

  private mutating func word() -> Word {
    let start = index
    while index < bytes.count, Self.isPart(bytes[index]) { index += 1 }
    return Word(
      text: String(decoding: bytes[start..<index], as: UTF8.self), depth: depth,
      isMember: start > 0 && bytes[start - 1] == UInt8(ascii: "."))
  }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  private mutating func skipComment() -> Bool {
    if has("//") {
      while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
      return true
    }
    guard has("/*") else { return false }
    index += 2
    while index < bytes.count, !has("*/") { index += 1 }
    index += 2
    return true
  }

  /// Skips a string literal up to its end or its first interpolation, whose words are read as others are.
  private mutating func skipString() -> Bool {
    guard has("\"") else { return false }
    let quote: StaticString = has("\"\"\"") ? "\"\"\"" : "\""
    index += quote.utf8CodeUnitCount
    skipString(upTo: quote)
    return true
  }

  private mutating func skipString(upTo quote: StaticString) {
    while index < bytes.count, !has(quote) {
      if has("\\(") {
        interpolated.append((quote, parentheses))
        parentheses += 1
        index += 2
        return
      }
      index += has("\\") ? 2 : 1
    }
    index += quote.utf8CodeUnitCount
  }

  /// Continues the string literal whose interpolation has ended, if one has.
  private mutating func endInterpolation() {
    guard let last = interpolated.last, last.parentheses == parentheses else { return }
    interpolated.removeLast()
    skipString(upTo: last.quote)
  }

  private func has(_ text: StaticString) -> Bool {
    guard index < bytes.count, bytes[index] == text.utf8Start.pointee else { return false }
    let text = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return index + text.count <= bytes.count && bytes[index..<index + text.count].elementsEqual(text)
  }
}
