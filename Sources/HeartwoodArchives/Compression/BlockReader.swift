/// Reads the blocks of DEFLATE.
struct BlockReader {
  var input: BitReader
  let limit: Int
  private(set) var output: [UInt8] = []

  init(input: BitReader, limit: Int) {
    self.input = input
    self.limit = limit
  }

  /// Reads a block; false if it was the last one.
  mutating func readBlock() throws(ArchiveError) -> Bool {
    let offset = input.nextByte
    let isLast = try input.read(1) == 1
    switch try input.read(2) {
    case 0: try readStored()
    case 1: try readSymbols(Self.fixed.symbols, Self.fixed.distances)
    case 2: try readDynamic()
    default: throw ArchiveError("a block is of no known kind", at: offset)
    }
    return !isLast
  }

  private mutating func readStored() throws(ArchiveError) {
    input.skipToByte()
    let offset = input.nextByte
    let count = try input.read(16)
    guard try input.read(16) == count ^ 0xffff else {
      throw ArchiveError("the length of a stored block is damaged", at: offset)
    }
    try reserve(count)
    try input.readBytes(count, into: &output)
  }

  /// The order in which the lengths of the code of lengths are written.
  private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  private mutating func readDynamic() throws(ArchiveError) {
    let offset = input.nextByte
    let symbolCount = try input.read(5) + 257
    let distanceCount = try input.read(5) + 1
    let lengthCount = try input.read(4) + 4
    guard symbolCount <= 286, distanceCount <= 30 else {
      throw ArchiveError("a block has more symbols than there are", at: offset)
    }
    var ofLengths = [UInt8](repeating: 0, count: 19)
    for place in Self.order.prefix(lengthCount) { ofLengths[place] = UInt8(try input.read(3)) }
    let code = try PrefixCode(lengths: ofLengths, mayBeSparse: false, at: offset)
    var lengths: [UInt8] = []
    while lengths.count < symbolCount + distanceCount {
      let symbol = try code.read(&input)
      var repeated: UInt8 = 0
      var count = 1
      switch symbol {
      case 16:
        guard let last = lengths.last else {
          throw ArchiveError("the first length of a code repeats one before it", at: input.nextByte)
        }
        repeated = last
        count = try input.read(2) + 3
      case 17: count = try input.read(3) + 3
      case 18: count = try input.read(7) + 11
      default: repeated = UInt8(symbol)
      }
      guard lengths.count + count <= symbolCount + distanceCount else {
        throw ArchiveError("a block has more lengths than symbols", at: input.nextByte)
      }
      lengths += repeatElement(repeated, count: count)
    }
    guard lengths[256] > 0 else { throw ArchiveError("a block has no end", at: offset) }
    try readSymbols(
      PrefixCode(lengths: lengths[..<symbolCount], mayBeSparse: true, at: offset),
      PrefixCode(lengths: lengths[symbolCount...], mayBeSparse: true, at: offset))
  }

  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
    227, 258,
  ]
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073,
    4097, 6145, 8193, 12289, 16385, 24577,
  ]

  private mutating func readSymbols(_ symbols: PrefixCode, _ distances: PrefixCode) throws(ArchiveError) {
    while true {
      let symbol = try symbols.read(&input)
      if symbol < 256 {
        try reserve(1)
        output.append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      let offset = input.nextByte
      let place = symbol - 257
      guard place < Self.lengthBases.count else {
        throw ArchiveError("the input has a length that is none", at: offset)
      }
      let count = Self.lengthBases[place] + (try input.read(Self.lengthBits[place]))
      let far = try distances.read(&input)
      guard far < Self.distanceBases.count else {
        throw ArchiveError("the input has a distance that is none", at: offset)
      }
      let distance = Self.distanceBases[far] + (try input.read(far < 2 ? 0 : far / 2 - 1))
      guard distance <= output.count else {
        throw ArchiveError("the input repeats bytes from before its beginning", at: offset)
      }
      try reserve(count)
      // The bytes may be those that are just written.
      for _ in 0..<count { output.append(output[output.count - distance]) }
    }
  }

  /// Checks that so many more bytes may come out.
  private func reserve(_ count: Int) throws(ArchiveError) {
    guard count <= limit - output.count else {
      throw ArchiveError("more than \(limit) bytes come out", at: input.nextByte)
    }
  }

  /// The codes of blocks that have none of their own.
  private static let fixed: (symbols: PrefixCode, distances: PrefixCode) = {
    let lengths =
      [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112) + [UInt8](repeating: 7, count: 24)
      + [UInt8](repeating: 8, count: 8)
    guard let symbols = try? PrefixCode(lengths: lengths, mayBeSparse: false, at: 0),
      let distances = try? PrefixCode(lengths: [UInt8](repeating: 5, count: 32), mayBeSparse: false, at: 0)
    else { preconditionFailure("the fixed codes are complete") }
    return (symbols, distances)
  }()
}
