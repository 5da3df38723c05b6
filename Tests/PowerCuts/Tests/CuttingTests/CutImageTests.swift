import Cutting
import Testing
import Workload

@Suite struct CutImageTests {
  /// Four writes of four sectors. Every byte of the first write is 1, of the second 2, and so on.
  private static func window(forced: Int? = nil) -> [DiskRecord.Event] {
    (0..<4).map { index in
      let bytes = [UInt8](repeating: UInt8(index + 1), count: 2048)
      return .write(offset: index * 4096, bytes: bytes, isForced: index == forced)
    }
  }

  private static func image(_ survival: Survival, seed: UInt64 = 1, forced: Int? = nil) -> CutImage {
    var random = RandomNumbers(seed: seed)
    return CutImage(window(forced: forced)[...], survival, &random)
  }

  @Test func `nothing is lost where all survives`() {
    let image = Self.image(.all)
    #expect(image.pieces.map(\.offset) == [0, 4096, 8192, 12288])
    #expect((image.whole, image.torn, image.lost) == (4, 0, 0))
  }

  @Test func `nothing is there where nothing survives`() {
    #expect(Self.image(.none).pieces.isEmpty)
    #expect(Self.image(.none).lost == 4)
  }

  @Test func `a write that was durable when it was answered survives everything`() {
    let image = Self.image(.none, forced: 2)
    #expect(image.pieces == [CutImage.Piece(offset: 8192, bytes: [UInt8](repeating: 3, count: 2048)[...])])
  }

  @Test(arguments: 0..<UInt64(64))
  func `of a prefix all writes but the last are whole, and none is after it`(seed: UInt64) {
    let image = Self.image(.prefix, seed: seed)
    let offsets = Set(image.pieces.map { $0.offset / 4096 })
    #expect(image.torn <= 1)
    #expect(offsets.isSubset(of: 0...image.whole))
    #expect(offsets.isSuperset(of: 0..<image.whole))
  }

  @Test(arguments: 0..<UInt64(64))
  func `what is there of a torn write are whole sectors in their places`(seed: UInt64) {
    for piece in Self.image(.torn, seed: seed).pieces {
      #expect(piece.offset % 512 == 0)
      #expect(piece.bytes.count % 512 == 0)
      #expect(piece.offset % 4096 + piece.bytes.count <= 2048)
      #expect(piece.bytes.allSatisfy { $0 == UInt8(piece.offset / 4096 + 1) })
    }
  }

  @Test func `the seeds make a write whole, torn and lost, and a later one survive an earlier`() {
    let images = (0..<UInt64(64)).map { Self.image(.torn, seed: $0) }
    #expect(images.contains { $0.whole > 0 })
    #expect(images.contains { $0.torn > 0 })
    #expect(images.contains { $0.lost > 0 })
    #expect(images.contains { ($0.pieces.first?.offset ?? 0) >= 4096 })
  }

  @Test func `writes survive in the order in which they arrived`() {
    let images = (0..<UInt64(64)).map { Self.image(.subset, seed: $0).pieces.map(\.offset) }
    #expect(images.allSatisfy { $0 == $0.sorted() })
  }
}
