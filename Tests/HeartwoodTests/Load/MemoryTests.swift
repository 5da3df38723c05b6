import Foundation
import GraphTestSupport
import Heartwood
import Synchronization
import TestSupport
import Testing

/// An object of which the living instances are counted.
private final class Counted: ManagedObject {
  static let living = Atomic(0)

  @Attribute var number: Int64 = 0
  @Attribute var text = ""
  @Relationship(inverse: { $0.next }) var previous: Counted?
  @Relationship(inverse: { $0.previous }) var next: Counted?

  /// False for the prototypes of the class.
  private var isCounted = false

  override func awakeFromInsert() {
    isCounted = true
    Self.living.add(1, ordering: .relaxed)
  }

  deinit { if isCounted { Self.living.subtract(1, ordering: .relaxed) } }
}

@Suite struct `Memory of large imports` {
  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

  @Test func `objects that are inserted in batches and reset leave nothing in memory`() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Counted", types: [Counted.self], at: folder.store)
    let context = container.newBackgroundContext()
    let (batches, size) = (Self.isLong ? 1000 : 50, 1000)
    var early = 0
    for batch in 0..<batches {
      try autoreleasing {
        var last: Counted?
        for number in 1...size {
          let object = Counted(context: context)
          object.number = Int64(batch * size + number)
          object.text = "text of \(number)"
          object.previous = last
          last = object
        }
        #expect(context.registeredObjects.count == size)
        try context.save()
      }
      context.reset()
      #expect(context.registeredObjects.isEmpty)
      #expect(Counted.living.load(ordering: .relaxed) == 0, "batch \(batch)")
      if batch == batches / 10 { early = try ownMemory() }
    }
    #expect(try context.count(Counted.self) == batches * size)
    // The process has other tests in it otherwise.
    if Self.isLong {
      let grown = try ownMemory() - early
      print("memory has grown by \(grown >> 20) MiB over \(batches * size * 9 / 10) objects")
      #expect(grown < 64 << 20)
    }
    try container.close()
  }

  private func autoreleasing(_ body: () throws -> Void) rethrows { try body() }

  /// The bytes of the process that are not those of files.
  private func ownMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
  }
}
