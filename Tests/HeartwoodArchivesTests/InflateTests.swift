import Foundation
import HeartwoodArchives
import Testing

@Suite struct `Compressed data` {
  private static let program = """
    import base64, random, sys, zlib
    seed = int(sys.argv[1]); r = random.Random(seed)
    def sample(i):
        n = r.choice([0, 1, 2, 10, 100, 300, 1000, 70000 if i % 10 == 0 else 3000])
        k = i % 5
        if k == 0: return bytes(r.randrange(256) for _ in range(n))
        if k == 1: return bytes(r.choice(b'ab') for _ in range(n))
        if k == 2: return (b'NSEntityDescription NSPropertyName ' * (n // 30 + 1))[:n]
        if k == 3: return bytes([r.randrange(256)]) * n
        return b''.join(bytes([r.randrange(97, 123)]) * r.randrange(1, 300) for _ in range(n // 100 + 1))
    strategies = [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED]
    for i in range(120):
        data = sample(i)
        wbits = r.choice([15, -15, 9, -9])
        c = zlib.compressobj(r.randrange(0, 10), zlib.DEFLATED, wbits, r.randrange(1, 10), r.choice(strategies))
        out = b''
        parts = [data[j:j + 20000] for j in range(0, len(data), 20000)]
        for part in parts:
            out += c.compress(part)
            if r.random() < 0.3: out += c.flush(r.choice([zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH]))
        out += c.flush()
        print('z' if wbits > 0 else 'r', base64.b64encode(out).decode(), base64.b64encode(data).decode())
    """

  @Test(.enabled(if: Python.path != nil), arguments: [1, 2, 3])
  func `what zlib compresses in any way comes out as it was`(seed: Int) throws {
    for line in try Python.lines(Self.program, "\(seed)") {
      let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      let compressed = [UInt8](try #require(Data(base64Encoded: parts[1])))
      let data = [UInt8](try #require(Data(base64Encoded: parts[2])))
      #expect(try Inflate.bytes(of: compressed, form: parts[0] == "z" ? .zlib : .raw) == data)
      #expect(try Inflate.bytes(of: compressed) == data)
    }
  }

  /// Texts in fixed codes, in codes of their own, and stored, all raw; the last is in zlib's frame.
  private static let recorded: [(text: String, base64: String)] = [
    ("hello hello hello", "y0jNyclXyECQAA=="),
    (
      (0..<40).map { "word\($0 % 7)-\($0 * $0 % 101);" }.joined(),
      "Nc9LCsNgCATgEwm+/SXXyb7QTa7fYsbViPAx+ny+NxNfzz+FZFLJJ4160klyhiCNGZLs3TB5w6YDH4EWZnhleDf4PPAd8Grwse2nlgt4HPAucCvww+C6vGSvb/BicFXwWm7b3goeutyXN7gHuNi27/OR4La/5/UD"
    ),
    ("stored", "AQYA+f9zdG9yZWQ="),
    ("hello", "eJzLSM3JyQcABiwCFQ=="),
  ]

  @Test func `each kind of block is read`() throws {
    for (text, base64) in Self.recorded {
      let bytes = [UInt8](try #require(Data(base64Encoded: base64)))
      #expect(String(decoding: try Inflate.bytes(of: bytes), as: UTF8.self) == text)
    }
  }

  @Test func `a byte that is changed is an error with its place, or other bytes`() throws {
    for (_, base64) in Self.recorded {
      damaged([UInt8](Data(base64Encoded: base64) ?? Data())) { bytes in
        for form in [Inflate.Form.raw, .zlib, .detected] {
          do throws(ArchiveError) {
            _ = try Inflate.bytes(of: bytes, form: form, limit: 1 << 16)
          } catch {
            #expect(error.offset != nil && !error.message.isEmpty)
          }
        }
      }
    }
  }

  @Test func `bytes that are random end in an error, or in as many bytes as are allowed`() {
    var generator = SeededGenerator(seed: 45)
    for _ in 0..<3000 {
      let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      if let output = try? Inflate.bytes(of: bytes, form: .raw, limit: 5000) { #expect(output.count <= 5000) }
    }
  }

  @Test func `a limit stops data that is short and becomes long`() throws {
    // A byte, and 300 repetitions of 258 bytes before: a million bytes in fewer than a thousand.
    var writer = BitWriter()
    writer.append(0b1, 1)
    writer.append(0b01, 2)
    writer.appendReversed(0x30 + 65, 8)
    for _ in 0..<4000 {
      // Length 258, distance 1.
      writer.appendReversed(0b1100_0101, 8)
      writer.appendReversed(0, 5)
    }
    writer.appendReversed(0, 7)
    let bytes = writer.bytes
    #expect(try Inflate.bytes(of: bytes, form: .raw).count == 4000 * 258 + 1)
    #expect(throws: ArchiveError.self) { try Inflate.bytes(of: bytes, form: .raw, limit: 1_000_000) }
  }

  @Test func `a wrong checksum, and a distance before the beginning, are errors`() throws {
    var framed = [UInt8](try #require(Data(base64Encoded: "eJzLSM3JyQcABiwCFQ==")))
    framed[framed.count - 1] ^= 1
    let error = #expect(throws: ArchiveError.self) { try Inflate.bytes(of: framed, form: .zlib) }
    #expect(error?.message == "the checksum is wrong")
    var writer = BitWriter()
    writer.append(0b1, 1)
    writer.append(0b01, 2)
    writer.appendReversed(1, 7)
    writer.appendReversed(0, 5)
    writer.appendReversed(0, 7)
    let before = #expect(throws: ArchiveError.self) { try Inflate.bytes(of: writer.bytes, form: .raw) }
    #expect(before?.message == "the input repeats bytes from before its beginning")
  }
}

/// Writes bits, the lowest of each byte first.
private struct BitWriter {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  mutating func append(_ value: Int, _ width: Int) {
    for bit in 0..<width {
      if count % 8 == 0 { bytes.append(0) }
      if value >> bit & 1 == 1 { bytes[bytes.count - 1] |= 1 << UInt8(count % 8) }
      count += 1
    }
  }

  /// A code, whose first bit is its highest.
  mutating func appendReversed(_ code: Int, _ width: Int) {
    for bit in (0..<width).reversed() { append(code >> bit & 1, 1) }
  }
}
