import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import TestSupport

extension DamageSample {
  /// All samples of a size.
  static func all(of size: Size) throws -> [DamageSample] {
    try [true, false].flatMap { isClosed in
      [try engine(size, isClosed: isClosed), try graph(size, isClosed: isClosed)]
    }
  }

  // MARK: An engine's store

  static func engine(_ size: Size, isClosed: Bool) throws -> DamageSample {
    let scale = size == .short ? 1 : 14
    let maker = try EngineMaker(scale: scale, seed: 1, isClosed: isClosed)
    let other = try EngineMaker(scale: scale, seed: 2, isClosed: isClosed)
    return DamageSample(
      name: "\(isClosed ? "a closed" : "an open") store", store: maker.store, earlier: maker.earlier,
      other: other.store, reader: EngineReader(states: maker.states), isClosed: isClosed,
      knownDurable: maker.knownDurable)
  }

  /// Makes a store with several log segments, checkpoints, overwrites and deletes.
  private struct EngineMaker {
    let store: StoreFiles
    let earlier: StoreFiles
    let states: [Rows]
    let knownDurable: Int

    init(scale: Int, seed: UInt64, isClosed: Bool) throws {
      let disk = SimulatedFileSystem()
      let session = Session(disk, seed: seed)
      let values = (0..<(4 * scale)).map { Edit.put("key \($0)", bytes: 20 + $0 * 37 % 200) }
      try session.run([
        .commit(.full, values), .checkpoint, .commit(.full, [.put("key 1", bytes: 50), .delete("key 2")]),
        // The checkpoint leaves nothing for the recovery to copy.
        .checkpoint, .kill, .commit(.full, [.put("b", bytes: 90)]),
      ])
      earlier = try StoreFiles(disk)
      let more = (0..<(2 * scale)).map { Edit.put("key \($0 * 2)", bytes: 30 + $0 * 17 % 150) }
      for step in [Step.commit(.full, more), .commit(.full, [.deletePrefix("key 1")]), .checkpoint] {
        try session.run(step)
      }
      knownDurable = session.reference.now.generations.count - 1
      for number in 0..<3 { try session.run(.commit(.full, [.put("c", bytes: 40 + number)])) }
      if isClosed { try session.close() }
      store = try StoreFiles(disk)
      states = session.reference.now.generations
      session.kill()
    }
  }

  // MARK: A graph's store

  static func graph(_ size: Size, isClosed: Bool) throws -> DamageSample {
    let steps = GraphWorkload.steps.prefix(size == .short ? 3 : 7)
    let states = Array(try GraphSession.states().prefix(steps.count + 1))
    let maker = try GraphMaker(steps, seed: 1, isClosed: isClosed)
    let other = try GraphMaker(steps, seed: 2, isClosed: isClosed)
    return DamageSample(
      name: "\(isClosed ? "a closed" : "an open") graph", store: maker.store, earlier: maker.earlier,
      other: other.store, reader: GraphReader(states: states), isClosed: isClosed,
      knownDurable: maker.knownDurable)
  }

  private struct GraphMaker {
    let store: StoreFiles
    let earlier: StoreFiles
    let knownDurable: Int

    init(_ steps: ArraySlice<GraphStep>, seed: UInt64, isClosed: Bool) throws {
      let disk = MemoryFileSystem()
      var options = GraphSession.options
      options.entropy = SeededEntropy(seed: seed)
      let first = try GraphSession.open(disk, options: options)
      for step in steps.dropLast(2) { try GraphSession.run(step, on: first) }
      try first.close()
      knownDurable = steps.count - 2
      earlier = try StoreFiles(disk)
      let second = try GraphSession.open(disk, options: options)
      for step in steps.suffix(2) { try GraphSession.run(step, on: second) }
      if isClosed { try second.close() }
      store = try StoreFiles(disk)
      if !isClosed { try second.close() }
    }
  }
}
