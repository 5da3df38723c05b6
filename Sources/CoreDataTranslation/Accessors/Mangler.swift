/// Writes the names that the compiler gives to functions: Swift's mangling, as much of it as accessors need.
///
/// Every identifier and every nominal, optional and generic type can be referred to by a letter once it was written. Neighbouring references
/// merge. Words within identifiers can be referred to as well.
struct Mangler {
  private(set) var text: [UInt8] = Array("$s".utf8)
  private var substitutions: [String: Int] = [:]
  private var substitutionCount = 0
  private var words: [(start: Int, length: Int)] = []
  private var lastSubstitution: (position: Int, size: Int, count: Int, isStandard: Bool) = (0, 0, 0, false)

  var name: String { String(decoding: text, as: UTF8.self) }

  mutating func append(_ operators: String) { text += Array(operators.utf8) }

  // MARK: Substitutions

  /// Writes a reference to what was written before; false if it was not.
  mutating func substitute(_ key: String) -> Bool {
    guard let index = substitutions[key] else { return false }
    if index >= 26 {
      append(index == 26 ? "A_" : "A\(index - 27)_")
      return true
    }
    let letter = UInt8(ascii: "A") + UInt8(index)
    if !merge(letter, isStandard: false) { text += [UInt8(ascii: "A"), letter] }
    return true
  }

  mutating func remember(_ key: String) {
    substitutions[key] = substitutionCount
    substitutionCount += 1
  }

  /// A type of the standard library with a letter of its own.
  mutating func standard(_ letter: UInt8) {
    if !merge(letter, isStandard: true) { text += [UInt8(ascii: "S"), letter] }
  }

  private mutating func merge(_ letter: UInt8, isStandard: Bool) -> Bool {
    let last = lastSubstitution
    if last.count > 0, text.count == last.position + last.size, last.isStandard == isStandard,
      let previous = text.last
    {
      if previous != letter, !isStandard {
        lastSubstitution = (text.count, 1, 1, false)
        text.removeLast()
        text += [previous + 32, letter]
        return true
      }
      if previous == letter {
        let count = last.count + 1
        text.removeSubrange(last.position...)
        text += Array("\(count)".utf8) + [letter]
        lastSubstitution = (last.position, text.count - last.position, count, isStandard)
        return true
      }
    }
    lastSubstitution = (text.count + 1, 1, 1, isStandard)
    return false
  }

  // MARK: Identifiers

  mutating func identifier(_ name: String) {
    let key = "i:" + name
    if substitute(key) { return }
    remember(key)
    write(name)
  }

  private mutating func write(_ name: String) {
    let ident = Array(name.utf8)
    if ident.contains(where: { $0 >= 0x80 }) {
      let coded = Array(Punycode.encode(name).utf8)
      append("00\(coded.count)")
      if let first = coded.first, isDigit(first) || first == UInt8(ascii: "_") { append("_") }
      text += coded
      return
    }
    var known = words.count
    var replacements: [(position: Int, word: Int)] = []
    var start: Int?
    for position in 0...ident.count {
      let current = position < ident.count ? ident[position] : 0
      if let begin = start, isWordEnd(current, ident[position - 1]) {
        let word = ident[begin..<position]
        if let index = index(of: word, in: text, 0..<known) ?? index(of: word, in: ident, known..<words.count)
        {
          replacements.append((begin, index))
        } else if word.count >= 2, words.count < 26 {
          words.append((begin, word.count))
        }
        start = nil
      }
      if start == nil, !isDigit(current), current != UInt8(ascii: "_"), current != 0 { start = position }
    }
    if !replacements.isEmpty { append("0") }
    replacements.append((ident.count, -1))
    var position = 0
    for (place, replacement) in replacements.enumerated() {
      if position < replacement.position {
        append("\(replacement.position - position)")
        while position < replacement.position {
          if known < words.count, words[known].start == position {
            words[known].start = text.count
            known += 1
          }
          text.append(ident[position])
          position += 1
        }
      }
      guard replacement.word >= 0 else { continue }
      position += words[replacement.word].length
      if place < replacements.count - 2 {
        text.append(UInt8(ascii: "a") + UInt8(replacement.word))
      } else {
        text.append(UInt8(ascii: "A") + UInt8(replacement.word))
        if position == ident.count { append("0") }
      }
    }
  }

  private func index(of word: ArraySlice<UInt8>, in bytes: [UInt8], _ range: Range<Int>) -> Int? {
    range.first { index in
      let known = words[index]
      return known.length == word.count && known.start + known.length <= bytes.count
        && bytes[known.start..<(known.start + known.length)].elementsEqual(word)
    }
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
  private func isUpper(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }
  private func isWordEnd(_ byte: UInt8, _ previous: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte == 0 || !isUpper(previous) && isUpper(byte)
  }
}

/// Swift's form of Punycode, for identifiers with letters outside ASCII.
enum Punycode {
  static func encode(_ name: String) -> String {
    let scalars = name.unicodeScalars.map(\.value)
    var output = scalars.filter { $0 < 0x80 }.map { Character(Unicode.Scalar($0)!) }
    let basic = output.count
    if basic > 0 { output.append("_") }
    var (n, delta, bias, handled) = (UInt32(0x80), 0, 72, basic)
    while handled < scalars.count {
      let next = scalars.filter { $0 >= n }.min() ?? n
      delta += Int(next - n) * (handled + 1)
      n = next
      for scalar in scalars {
        if scalar < n { delta += 1 }
        guard scalar == n else { continue }
        var q = delta
        var k = 36
        while true {
          let t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias
          if q < t { break }
          output.append(digit(t + (q - t) % (36 - t)))
          q = (q - t) / (36 - t)
          k += 36
        }
        output.append(digit(q))
        bias = adapted(delta, handled + 1, isFirst: handled == basic)
        delta = 0
        handled += 1
      }
      delta += 1
      n += 1
    }
    return String(output)
  }

  private static func digit(_ value: Int) -> Character {
    Character(Unicode.Scalar(UInt8(value < 26 ? 97 + value : 65 + value - 26)))
  }

  private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var k = 0
    while delta > (35 * 26) / 2 {
      delta /= 35
      k += 36
    }
    return k + (36 * delta) / (delta + 38)
  }
}
