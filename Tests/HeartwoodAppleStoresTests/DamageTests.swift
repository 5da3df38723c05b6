import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
import Testing

/// Files whose bytes are not what was written.
struct DamageTests {
  /// The bytes may be any: the result is an error, or values.
  @Test(arguments: ["history", "clashes", "data"])
  func `a changed byte is an error or another value, and never more`(_ name: String) throws {
    let fixture = try StoreFixture(name)
    let original = try Data(contentsOf: fixture.url)
    var random = SplitMix64(state: 45)
    var (errors, reads) = (0, 0)
    for _ in 0..<40 {
      var bytes = original
      let place = Int(random.next() % UInt64(bytes.count))
      bytes[place] = UInt8(truncatingIfNeeded: random.next())
      try bytes.write(to: fixture.url)
      do {
        let open = try fixture.open()
        _ = try open.read { context in
          _ = try? context.execute(.fetchHistory(after: nil as PersistentHistoryToken?))
          return try ContextDump(context)
        }
        try? open.coordinator.close()
        reads += 1
      } catch {
        errors += 1
        #expect(!"\(error)".isEmpty)
      }
    }
    #expect(errors > 0)
    #expect(reads > 0)
  }
}

/// A generator with a fixed beginning.
struct SplitMix64 {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
