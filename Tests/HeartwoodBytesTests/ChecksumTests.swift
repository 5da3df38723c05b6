import HeartwoodBytes
import Testing

@Suite struct ChecksumTests {
  @Test(arguments: checksumVectors.indices)
  func `checksums are those of the reference implementation`(index: Int) {
    let vector = checksumVectors[index]
    vectorBytes(vector.length).withUnsafeBytes {
      #expect(XXH64.hash($0, seed: vector.seed) == vector.xxh64, "length \(vector.length)")
      #expect(XXH3.hash($0, seed: vector.seed) == vector.xxh3, "length \(vector.length)")
    }
  }

  @Test(arguments: checksumVectors.indices)
  func `a checksum of pieces is that of the whole`(index: Int) {
    let vector = checksumVectors[index]
    let whole = vectorBytes(vector.length)
    for piece in [1, 7, 64, 240, 1023, 1024, 1025, 5000] {
      var stream = XXH3.Stream(seed: vector.seed)
      whole.withUnsafeBytes { bytes in
        for start in stride(from: 0, to: bytes.count, by: piece) {
          stream.update(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + piece, bytes.count)]))
        }
      }
      #expect(stream.hash() == vector.xxh3, "length \(vector.length), pieces of \(piece)")
    }
  }

  @Test func `a buffer without an address is empty`() {
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    #expect(XXH64.hash(empty, seed: 0) == 0xEF46_DB37_51D8_E999)
    #expect(XXH3.hash(empty, seed: 0) == 0x2D06_8005_38D3_94C2)
  }

  @Test func `the address of the bytes does not matter`() {
    let bytes = vectorBytes(700)
    for length in [3, 11, 50, 130, 200, 300, 600] {
      let expected = Array(bytes[0..<length])
      for shift in 1..<9 {
        let shifted = [UInt8](repeating: 0xAA, count: shift) + expected
        shifted.withUnsafeBytes { all in
          let moved = UnsafeRawBufferPointer(rebasing: all[shift...])
          expected.withUnsafeBytes { plain in
            #expect(XXH64.hash(moved, seed: 7) == XXH64.hash(plain, seed: 7))
            #expect(XXH3.hash(moved, seed: 7) == XXH3.hash(plain, seed: 7))
          }
        }
      }
    }
  }

  @Test(arguments: [1, 8, 16, 40, 128, 129, 240, 241, 1024])
  func `every flipped bit changes both checksums`(length: Int) {
    var bytes = vectorBytes(length)
    let original = bytes.withUnsafeBytes { (XXH64.hash($0, seed: 1), XXH3.hash($0, seed: 1)) }
    for index in 0..<length {
      bytes[index] ^= 1 << UInt8(index % 8)
      let changed = bytes.withUnsafeBytes { (XXH64.hash($0, seed: 1), XXH3.hash($0, seed: 1)) }
      #expect(changed.0 != original.0)
      #expect(changed.1 != original.1)
      bytes[index] ^= 1 << UInt8(index % 8)
    }
  }
}
