/// The reason why a text is not valid JSON, and the line and column, both counted from 1.
package struct JSONError: Error, Equatable {
  package let line: Int
  package let column: Int
  package let message: String
}

/// A strict JSON parser that reads each byte once and reports the position of an error.
package struct JSONParser {
  /// The maximum nesting depth, so that the recursion can't exhaust the stack.
  package static let deepestNesting = 200

  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private var depth = 0

  /// Parses the one value in `bytes`. Trailing content is an error.
  package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
    let result = bytes.withUnsafeBytes { buffer in
      Result { () throws(JSONError) in
        var parser = JSONParser(bytes: buffer)
        return try parser.document()
      }
    }
    return try result.get()
  }

  /// Parses an object with a list that may be large, one element at a time.
  ///
  /// - Parameters:
  ///   - list: The name of the member that is the list.
  ///   - begin: Called once, with the other members, before the elements.
  ///   - each: Called with each element and its number, from 1.
  /// - Throws: `JSONError`, and what the closures throw.
  package static func parse(
    _ bytes: [UInt8], list: String, begin: (JSONObject) throws -> Void, each: (JSONValue, Int) throws -> Void
  ) throws {
    try bytes.withUnsafeBytes { buffer in
      var parser = JSONParser(bytes: buffer)
      let (others, start) = try parser.othersThanList(list)
      try begin(others)
      guard let start else { return }
      parser.position = start + 1
      parser.depth = 2
      if parser.take("]") { return }
      var number = 0
      repeat {
        number += 1
        try each(try parser.value(), number)
      } while parser.take(",")
      guard parser.take("]") else { throw parser.error("expected a comma or the closing ]") }
    }
  }

  /// The members of the document's object without one, and the place of that one's list.
  private mutating func othersThanList(_ list: String) throws(JSONError) -> (JSONObject, Int?) {
    skipSpace()
    guard peek == UInt8(ascii: "{") else { throw error("expected an object") }
    var start: Int?
    let object = try nested { parser throws(JSONError) in
      try parser.object { parser, name throws(JSONError) in
        parser.skipSpace()
        guard name == list, parser.peek == UInt8(ascii: "[") else { return try parser.value() }
        start = parser.position
        try parser.skipList()
        return nil
      }
    }
    skipSpace()
    guard position == bytes.count else { throw error("something stands behind the end") }
    return (object, start)
  }

  /// Moves behind a list, whose elements are checked when they are parsed.
  private mutating func skipList() throws(JSONError) {
    let start = position
    var open = 0
    var isInString = false
    while let byte = peek {
      position += 1
      if isInString {
        if byte == UInt8(ascii: "\\") { position += 1 }
        if byte == UInt8(ascii: "\"") { isInString = false }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): open += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        open -= 1
        if open == 0 { return }
      default: break
      }
    }
    position = start
    throw error("the list is not terminated")
  }

  private init(bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  private mutating func document() throws(JSONError) -> JSONValue {
    let value = try self.value()
    skipSpace()
    guard position == bytes.count else { throw error("something stands behind the end") }
    return value
  }

  private mutating func value() throws(JSONError) -> JSONValue {
    skipSpace()
    guard let byte = peek else { throw error("expected a value, found the end of the text") }
    switch byte {
    case UInt8(ascii: "{"): return .object(try nested { parser throws(JSONError) in try parser.object() })
    case UInt8(ascii: "["): return .array(try nested { parser throws(JSONError) in try parser.array() })
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw error("a value should stand here")
    }
  }

  private mutating func nested<Part>(
    _ read: (inout JSONParser) throws(JSONError) -> Part
  ) throws(JSONError) -> Part {
    guard depth < JSONParser.deepestNesting else {
      throw error("nested more than \(JSONParser.deepestNesting) deep")
    }
    depth += 1
    position += 1
    defer { depth -= 1 }
    return try read(&self)
  }

  private mutating func object() throws(JSONError) -> JSONObject {
    try object { parser, _ throws(JSONError) in try parser.value() }
  }

  /// How many members are searched one by one for a name that occurs twice.
  private static let mostSearched = 16

  /// - Parameter read: Reads the value of a member; nil to leave it out.
  private mutating func object(
    _ read: (inout JSONParser, String) throws(JSONError) -> JSONValue?
  ) throws(JSONError) -> JSONObject {
    var object = JSONObject()
    // Of the members of an object that has many.
    var names: Set<String> = []
    if take("}") { return object }
    repeat {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { throw error("expected a name in quotes") }
      let start = position
      let name = try string()
      let count = object.members.count
      if count == Self.mostSearched, names.isEmpty { names = Set(object.members.map(\.name)) }
      guard count < Self.mostSearched ? object[name] == nil : !names.contains(name) else {
        position = start
        throw error("\"\(name)\" occurs twice in one object")
      }
      guard take(":") else { throw error("expected a colon") }
      if let value = try read(&self, name) {
        object.members.append(JSONObject.Member(name: name, value: value))
        if count >= Self.mostSearched { names.insert(name) }
      }
    } while take(",")
    guard take("}") else { throw error("expected a comma or the closing }") }
    return object
  }

  private mutating func array() throws(JSONError) -> [JSONValue] {
    var values: [JSONValue] = []
    if take("]") { return values }
    repeat { values.append(try value()) } while take(",")
    guard take("]") else { throw error("expected a comma or the closing ]") }
    return values
  }

  private mutating func word(_ text: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
    guard take(exactly: text) else { throw error("a value should stand here") }
    return value
  }
}

// MARK: Numbers

extension JSONParser {
  private mutating func number() throws(JSONError) -> JSONValue {
    let start = position
    if peek == UInt8(ascii: "-") { position += 1 }
    if peek == UInt8(ascii: "0") { position += 1 } else { try digits() }
    var isWhole = true
    if peek == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      isWhole = false
      position += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else {
      position = start
      throw error("the number \(text) is too large")
    }
    return .fraction(number, text: text)
  }

  private mutating func digits() throws(JSONError) {
    let start = position
    while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
    guard position > start else { throw error("expected a digit") }
  }
}

// MARK: Strings

extension JSONParser {
  private mutating func string() throws(JSONError) -> String {
    let start = position
    position += 1
    // The text before the run, where there are escapes.
    var collected: [UInt8] = []
    var hasEscapes = false
    var runStart = position
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        if hasEscapes { collected.append(contentsOf: bytes[runStart..<position]) }
        defer { position += 1 }
        return try text(hasEscapes ? collected : nil, runStart..<position, from: start)
      case UInt8(ascii: "\\"):
        hasEscapes = true
        collected.append(contentsOf: bytes[runStart..<position])
        try appendEscape(to: &collected)
        runStart = position
      case 0..<0x20:
        throw error("a control character in a string; write it as \\n, \\t or \\u00..")
      default:
        position += 1
      }
    }
    position = start
    throw error("the string is not terminated")
  }

  private func text(
    _ escaped: [UInt8]?, _ run: Range<Int>, from start: Int
  ) throws(JSONError) -> String {
    let text =
      escaped.map { String(validating: $0, as: UTF8.self) }
      ?? String(validating: bytes[run], as: UTF8.self)
    guard let text else { throw JSONParser.error("the string is not valid UTF-8", at: start, in: bytes) }
    return text
  }

  private mutating func appendEscape(to collected: inout [UInt8]) throws(JSONError) {
    let start = position
    position += 1
    guard let letter = peek else { throw error("the string is not terminated") }
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): collected.append(letter)
    case UInt8(ascii: "b"): collected.append(0x08)
    case UInt8(ascii: "f"): collected.append(0x0C)
    case UInt8(ascii: "n"): collected.append(0x0A)
    case UInt8(ascii: "r"): collected.append(0x0D)
    case UInt8(ascii: "t"): collected.append(0x09)
    case UInt8(ascii: "u"): collected.append(contentsOf: String(Character(try scalar(from: start))).utf8)
    default:
      position = start
      throw error("unknown escape in a string")
    }
  }

  private mutating func scalar(from start: Int) throws(JSONError) -> Unicode.Scalar {
    var value = try unit()
    if 0xD800..<0xDC00 ~= value, take(exactly: "\\u") {
      let second = try unit()
      guard 0xDC00..<0xE000 ~= second else {
        position = start
        throw error("half of a surrogate pair")
      }
      value = 0x10000 + (value - 0xD800) << 10 + (second - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(value) else {
      position = start
      throw error("half of a surrogate pair")
    }
    return scalar
  }

  private mutating func unit() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("expected four hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }
}

// MARK: Bytes

extension JSONParser {
  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ sign: Unicode.Scalar) -> Bool {
    skipSpace()
    guard peek == UInt8(ascii: sign) else { return false }
    position += 1
    return true
  }

  private mutating func take(exactly text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  private func error(_ message: String) -> JSONError {
    JSONParser.error(message, at: position, in: bytes)
  }

  private static func error(
    _ message: String, at position: Int, in bytes: UnsafeRawBufferPointer
  ) -> JSONError {
    let before = bytes[..<min(position, bytes.count)]
    let line = before.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
    let lineStart = (before.lastIndex(of: 0x0A) ?? -1) + 1
    let column = String(decoding: before[lineStart...], as: UTF8.self).count + 1
    return JSONError(line: line, column: column, message: message)
  }
}
