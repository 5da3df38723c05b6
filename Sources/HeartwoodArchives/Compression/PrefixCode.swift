/// A prefix code of DEFLATE: symbols by their lengths in bits. Codes of up to nine bits are looked up, longer ones counted.
struct PrefixCode {
  private static let most = 15
  private static let fast = 9

  /// How many symbols have each length.
  private var counts = [Int](repeating: 0, count: most + 1)
  /// The symbols, by length, then by number.
  private var symbols: [UInt16] = []
  /// For each value of the next nine bits the symbol and its length; the length is 0 for longer codes.
  private var table = [(symbol: UInt16, length: UInt8)](repeating: (0, 0), count: 1 << fast)

  /// - Parameters:
  ///   - lengths: The length of each symbol, at most 15; 0 for a symbol that is not used.
  ///   - mayBeSparse: Whether a code may have at most one symbol, of one bit, as the code of distances may.
  ///   - offset: Where the lengths are in the input.
  /// - Throws: `ArchiveError` if no code has these lengths.
  init(lengths: some Collection<UInt8>, mayBeSparse: Bool, at offset: Int) throws(ArchiveError) {
    for length in lengths { counts[Int(length)] += 1 }
    counts[0] = 0
    var left = 1
    for length in 1...Self.most {
      left = left << 1 - counts[length]
      guard left >= 0 else {
        throw ArchiveError("a code has more symbols than its lengths allow", at: offset)
      }
    }
    let used = counts.reduce(0, +)
    guard left == 0 || mayBeSparse && (used == 0 || used == 1 && counts[1] == 1) else {
      throw ArchiveError("a code is not complete", at: offset)
    }
    var places = [Int](repeating: 0, count: Self.most + 2)
    for length in 1...Self.most { places[length + 1] = places[length] + counts[length] }
    symbols = [UInt16](repeating: 0, count: used)
    for (symbol, length) in lengths.enumerated() where length > 0 {
      symbols[places[Int(length)]] = UInt16(symbol)
      places[Int(length)] += 1
    }
    fillTable()
  }

  private mutating func fillTable() {
    var code = 0
    var place = 0
    for length in 1...Self.fast {
      for _ in 0..<counts[length] {
        // The first bit of a code is its highest; the input has it lowest.
        var reversed = 0
        for bit in 0..<length where code >> bit & 1 == 1 { reversed |= 1 << (length - 1 - bit) }
        for entry in stride(from: reversed, to: 1 << Self.fast, by: 1 << length) {
          table[entry] = (symbols[place], UInt8(length))
        }
        code += 1
        place += 1
      }
      code <<= 1
    }
  }

  /// The next symbol of the input.
  func read(_ input: inout BitReader) throws(ArchiveError) -> Int {
    let next = input.peek(Self.most)
    let entry = table[Int(next) & (1 << Self.fast - 1)]
    if entry.length > 0 {
      try input.skip(Int(entry.length))
      return Int(entry.symbol)
    }
    var code = 0
    var first = 0
    var place = 0
    for length in 1...Self.most {
      code |= Int(next >> UInt32(length - 1)) & 1
      let count = counts[length]
      if code - first < count {
        try input.skip(length)
        return Int(symbols[place + code - first])
      }
      place += count
      first = (first + count) << 1
      code <<= 1
    }
    throw ArchiveError("the input has a code that no symbol has", at: input.nextByte)
  }
}
