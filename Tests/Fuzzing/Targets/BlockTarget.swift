import HeartwoodBytes

/// Blocks of LZ4. The first two bytes are the length of the contents.
enum BlockTarget {
  static func finding(_ bytes: [UInt8]) -> String? {
    guard bytes.count >= 2 else { return nil }
    let count = Int(bytes[0]) | Int(bytes[1]) << 8
    guard let contents = contents(of: Array(bytes.dropFirst(2)), count: count) else { return nil }
    guard let block = block(of: contents) else { return "the contents of a block cannot be compressed" }
    return self.contents(of: block, count: count) == contents ? nil : "the contents of a block change"
  }

  private static func contents(of block: [UInt8], count: Int) -> [UInt8]? {
    var contents = [UInt8](repeating: 0, count: count)
    let isValid = block.withUnsafeBytes { block in
      contents.withUnsafeMutableBytes { LZ4.decompress(block, into: $0) }
    }
    return isValid ? contents : nil
  }

  private static func block(of contents: [UInt8]) -> [UInt8]? {
    var compressor = LZ4Compressor()
    var block = [UInt8](repeating: 0, count: contents.count + contents.count / 255 + 16)
    let count = contents.withUnsafeBytes { contents in
      block.withUnsafeMutableBytes { compressor.compress(contents, into: $0) }
    }
    return count.map { Array(block[..<$0]) }
  }

  static var seeds: [[UInt8]] {
    let texts = [
      "", "hello", String(repeating: "abc", count: 40), "The quick brown fox and the quick brown dog.",
    ]
    return texts.map { Array($0.utf8) }.compactMap { contents in
      block(of: contents).map { [UInt8(contents.count & 255), UInt8(contents.count >> 8)] + $0 }
    }
  }
}
