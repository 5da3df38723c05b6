import Foundation
import HeartwoodFiles
import Testing

@testable import Heartwood

/// Objects that come back, and what else copies have to agree on though not all of them have seen the same.
@Suite struct `Agreement of copies` {
  /// Copies of a store.
  private func copies(_ count: Int = 3, _ fill: (ManagedObjectContext) -> Void) throws -> [KnotCopy] {
    let first = try KnotCopy("0", in: MemoryFileSystem(), clock: ReplicaClock(), seed: 1)
    fill(first.context)
    try first.save(first.context)
    return try [first]
      + (1..<count).map { place in
        let lineage = UUID(uuid: (UInt8(place), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        return try first.copy("\(place)", lineage, seed: UInt64(place) + 1)
      }
  }

  /// Exchanges everything until nothing is new.
  private func exchange(_ copies: [KnotCopy]) throws {
    for _ in 0..<4 {
      for from in copies {
        for to in copies where to !== from { try to.apply(from.set(for: to)) }
      }
    }
  }

  private func areEqual(_ copies: [KnotCopy]) throws -> Bool {
    let all = try copies.map { try Registers($0).lines().mapValues { "\($0.value) \($0.stamp)" } }
    return all.allSatisfy { $0 == all[0] }
  }

  @Test func `copies that have exchanged everything have nothing to exchange`() throws {
    let all = try copies { context in
      _ = Knot(context: context)
      _ = Mark(context: context)
    }
    try all[0].edit(at: 1) { knot, mark in knot?.main = mark }
    try all[1].edit(at: 2) { _, mark in mark.map(all[1].context.delete) }
    try exchange(all)
    #expect(try areEqual(all))
    #expect(try all[0].knot?.main == nil)
    for from in all {
      for to in all where to !== from {
        let (set, generation) = (try from.set(for: to), try to.generation)
        #expect(set.isEmpty)
        #expect(try to.apply(set)?.wasKnown == true && to.generation == generation)
      }
    }
  }

  /// The first copy deletes the mark and takes that back; meanwhile another one changes a link of it, and the third copy learns of that while it has the
  /// mark as a deleted one.
  private func returnMark(
    linked: Bool, isRemovalFirst: Bool = false, change: (Knot?, Mark?) -> Void
  ) throws -> [KnotCopy] {
    let all = try copies { context in
      let (knot, mark) = (Knot(context: context), Mark(context: context))
      if linked { knot.marks = [mark] }
    }
    try all[0].edit(at: 1) { _, mark in mark.map(all[0].context.delete) }
    let deletion = try all[0].set(for: all[2])
    if !isRemovalFirst { try all[2].apply(deletion) }
    try all[0].undo(at: 2)
    try all[1].edit(at: 3, change)
    try all[2].apply(all[1].set(for: all[2]))
    if isRemovalFirst { try all[2].apply(deletion) }
    try all[0].apply(all[2].set(for: all[0]))
    try exchange(all)
    return all
  }

  @Test func `a link that was made later stays when the object on its other side comes back`() throws {
    let all = try returnMark(linked: false) { knot, mark in mark.map { _ = knot?.marks.insert($0) } }
    #expect(try areEqual(all))
    #expect(try all.map { try $0.knot?.marks.count } == [1, 1, 1])
  }

  @Test(arguments: [false, true])
  func `a link that was removed later is gone when an object comes back with it`(isFirst: Bool) throws {
    let all = try returnMark(linked: true, isRemovalFirst: isFirst) { knot, _ in knot?.marks = [] }
    #expect(try areEqual(all))
    #expect(try all.map { try $0.knot?.marks.count } == [0, 0, 0])
  }

  @Test func `an object has the link that it came back with, though one copy has left it out`() throws {
    let all = try copies { context in Knot(context: context).marks = [Mark(context: context)] }
    try all[1].edit(at: 1) { knot, _ in knot.map(all[1].context.delete) }
    try all[2].edit(at: 2) { _, mark in mark.map(all[2].context.delete) }
    try all[2].undo(at: 3)
    try all[0].apply(all[1].set(for: all[0]))
    try all[1].undo(at: 2)
    for from in [2, 1] { try all[0].apply(all[from].set(for: all[0])) }
    try exchange(all)
    #expect(try areEqual(all))
    #expect(try all.map { try $0.knot?.marks.count } == [1, 1, 1])
  }

  @Test func `an order that was made later stays when its object comes back`() throws {
    let all = try copies(2) { context in
      Knot(context: context).picks = ["1", "2"].map { name in
        let mark = Mark(context: context)
        mark.name = name
        return mark
      }
    }
    try all[0].edit(at: 1) { knot, _ in knot.map(all[0].context.delete) }
    let deletion = try all[0].set(for: all[1])
    try all[0].undo(at: 2)
    try all[1].edit(at: 3) { knot, _ in knot?.picks.reverse() }
    try all[0].apply(all[1].set(for: all[0]))
    try all[1].apply(deletion)
    try exchange(all)
    #expect(try areEqual(all))
    #expect(try all.map { try $0.knot?.picks.map(\.name) } == [["2", "1"], ["2", "1"]])
  }

  @Test func `children of an object that is made one with another live on in all copies`() throws {
    let all = try copies { _ in }
    func insert(_ place: Int, at time: Int64, size: Int64?) throws {
      try all[place].edit(at: time) { _, _ in
        let knot = Knot(context: all[place].context)
        knot.code = "same"
        guard let size else { return }
        let child = Knot(context: all[place].context)
        (child.size, child.parent) = (size, knot)
      }
    }
    try insert(0, at: 1, size: nil)
    try insert(1, at: 2, size: 7)
    try all[2].apply(all[1].set(for: all[2]))
    try all[0].apply(all[1].set(for: all[0]))
    try all[2].apply(all[0].set(for: all[2]))
    try exchange(all)
    #expect(try areEqual(all))
    for copy in all {
      copy.context.reset()
      let child = try copy.context.fetch(Knot.self, where: { $0.size == 7 }).first
      #expect(child?.parent?.code == "same")
    }
  }

  @Test func `a removed link is not back because its object lost another one later`() throws {
    let all = try copies { context in
      let (knot, first, second) = (Knot(context: context), Mark(context: context), Mark(context: context))
      (first.name, second.name, knot.marks) = ("1", "2", [first, second])
    }
    try all[0].edit(at: 1) { knot, _ in knot.map(all[0].context.delete) }
    try all[0].undo(at: 2)
    let returned = try all[0].set(for: all[1])
    // The first copy has the stamps of its history in the store from now on.
    try all[2].edit(at: 2) { _, _ in _ = Mark(context: all[2].context) }
    try all[0].apply(all[2].set(for: all[0]))
    try all[1].apply(returned)
    try all[1].edit(at: 3) { knot, _ in
      if let knot { knot.marks = knot.marks.filter { $0.name != "1" } }
    }
    try all[0].edit(at: 4) { _, _ in
      let second = try? all[0].context.fetch(Mark.self, where: { $0.name == "2" }).first
      second.map(all[0].context.delete)
    }
    try all[2].apply(all[0].set(for: all[2]))
    try exchange(all)
    #expect(try areEqual(all))
    #expect(try all.map { try $0.knot?.marks.count } == [0, 0, 0])
  }

  @Test func `a change is later than all that the copy has applied, also where that was left out`() throws {
    let all = try copies { context in _ = Knot(context: context) }
    try all[0].edit(at: 1) { knot, _ in knot.map(all[0].context.delete) }
    // The clock of this copy is fast.
    try all[1].edit(at: 9) { knot, _ in knot?.note = "lost" }
    try all[0].apply(all[1].set(for: all[0]))
    try all[0].undo(at: 2, transaction: all[0].transactions[1])
    try exchange(all)
    #expect(try areEqual(all))
    #expect(try all.map { try $0.knot?.note } == [nil, nil, nil])
  }
}

extension KnotCopy {
  fileprivate var knot: Knot? {
    get throws {
      context.reset()
      return try context.fetch(Knot.self).first
    }
  }

  fileprivate var generation: UInt64 {
    get throws { try coordinator.historyStore(nil).newestView().generation }
  }

  /// Changes a knot and a mark, and saves at a time in seconds.
  fileprivate func edit(at time: Int64, _ body: (Knot?, Mark?) throws -> Void) throws {
    clock.time.withLock { $0 = time * 1_000_000_000 }
    context.reset()
    try body(context.fetch(Knot.self).first, context.fetch(Mark.self).first)
    try save(context)
  }

  /// Takes back the newest transaction, or another one.
  fileprivate func undo(at time: Int64, transaction: UInt64? = nil) throws {
    clock.time.withLock { $0 = time * 1_000_000_000 }
    let context = container.newBackgroundContext()
    _ = try context.revert(transaction: transaction ?? transactions[transactions.count - 1])
    try save(context)
  }
}
