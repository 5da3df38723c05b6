import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// The keys and differences of a to-many relationship beside plain arrays.
struct RelationshipStateTests {
  /// The same as arrays.
  private struct Plain {
    let isOrdered: Bool
    var committed: [UInt64] = []
    var current: [UInt64] = []

    var hasChanges: Bool { isOrdered ? current != committed : Set(current) != Set(committed) }
  }

  private static func relationship(isOrdered: Bool) -> (ManagedObject, RelationshipDescription) {
    let book = EntityDescription(name: "Book")
    let books = RelationshipDescription(
      name: "books", destination: book, isToMany: true, isOrdered: isOrdered)
    let author = EntityDescription(name: "Author", properties: [books])
    let by = RelationshipDescription(name: "author", destination: author, isToMany: false)
    (books.inverseRelationship, by.inverseRelationship) = (by, books)
    book.ownProperties.append(by)
    let model = ManagedObjectModel(entities: [author, book])
    withExtendedLifetime(model) { _ = author.compiled }
    return (author.makeObject(), books)
  }

  @Test(arguments: [true, false], 1...4 as ClosedRange<UInt64>)
  func `random changes, saves and loads leave the keys of plain arrays`(isOrdered: Bool, seed: UInt64) {
    var random = SplitMix64(seed: 0x7265_6c61 + seed)
    let (owner, relationship) = Self.relationship(isOrdered: isOrdered)
    var state = RelationshipState(of: owner, relationship)
    var plain = Plain(isOrdered: isOrdered)
    var former: Former?
    for step in 0..<(LongRun.isWanted ? 5000 : 500) {
      if step % 40 == 0 { Self.load(&state, &plain, &random) }
      if random.below(6) == 0 { former = (state.noteFormer(), state.committed ?? [], state.keys()) }
      Self.change(&state, &plain, &random)
      Self.check(state, plain, "seed \(seed), step \(step)")
      if let former { Self.check(former, state, "seed \(seed), step \(step)") }
    }
    withExtendedLifetime(owner) {}
  }

  private typealias Former = (differences: FormerDifferences, committed: [UInt64], keys: [UInt64])

  /// The former keys follow from the differences, and the present ones from the change that is known since.
  private static func check(_ former: Former, _ state: RelationshipState, _ note: String) {
    let keys = former.differences.keys(over: former.committed)
    #expect(state.isOrdered ? keys == former.keys : Set(keys) == Set(former.keys), "\(note)")
    guard let (lost, gained) = former.differences.change(to: state) else { return }
    #expect(Set(former.keys).subtracting(lost).union(gained) == Set(state.keys()), "\(note)")
    guard state.isOrdered else { return }
    let kept = state.keys().filter { !gained.contains($0) }
    #expect(kept + lost == former.keys && state.keys().starts(with: kept), "\(note)")
  }

  @Test(arguments: [true, false])
  func `the change since additions and removals at the end is known without all keys`(isOrdered: Bool) {
    let (owner, relationship) = Self.relationship(isOrdered: isOrdered)
    let state = RelationshipState(of: owner, relationship)
    state.load(Array(1...100))
    for key in 101...110 as ClosedRange<UInt64> { state.add(key) }
    let former = state.noteFormer()
    state.remove(110)
    state.remove(109)
    for key in 111...113 as ClosedRange<UInt64> { state.add(key) }
    state.remove(112)
    let change = former.change(to: state)
    #expect(change?.lost == [109, 110] && change?.gained == [111, 113])
    withExtendedLifetime(owner) {}
  }

  /// Others have changed what is stored; the differences stay.
  private static func load(_ state: inout RelationshipState, _ plain: inout Plain, _ random: inout SplitMix64)
  {
    let stored = (1...30 as ClosedRange<UInt64>).filter { _ in random.below(3) == 0 }
    let (added, removed) = (Array(state.added), state.removed)
    state.unload()
    state.load(stored)
    plain.committed = stored
    plain.current = state.keys()
    #expect(Set(plain.current) == Set(stored).subtracting(removed).union(added))
  }

  private static func change(
    _ state: inout RelationshipState, _ plain: inout Plain, _ random: inout SplitMix64
  ) {
    let key = 1 + UInt64(random.below(40))
    let place = plain.current.firstIndex(of: key)
    switch random.below(24) {
    case 0:
      state.commit { $0 }
      plain.committed = plain.current
    case 1:
      state.forgetDifferences()
      plain.current = plain.committed
    case 2: state = state.copy()
    case 3:
      let wanted = (1...40 as ClosedRange<UInt64>).filter { _ in random.below(4) == 0 }
      let keys =
        wanted.isEmpty
        ? wanted
        : Array(wanted[random.below(wanted.count)...] + wanted)
          .withoutRepetitions
      state.replace(with: keys)
      plain.current = keys
    case 4...7 where plain.isOrdered && place != nil:
      let index = random.below(plain.current.count)
      state.move(key, to: index)
      plain.current.removeAll { $0 == key }
      plain.current.insert(key, at: index)
    case 8 where plain.isOrdered:
      plain.current.reverse()
      state.setOrder(plain.current)
    case 9, 10:
      guard let place else { return }
      let other = 1 + UInt64(random.below(40))
      guard other != key else { return }
      state.substitute(key, by: other)
      if plain.current.contains(other) {
        plain.current.remove(at: place)
      } else {
        plain.current[place] = other
      }
    case 11:
      state.drop(key)
      plain.current.removeAll { $0 == key }
      plain.committed.removeAll { $0 == key }
    default:
      if let place {
        state.remove(key)
        plain.current.remove(at: place)
      } else {
        state.add(key)
        plain.current.append(key)
      }
    }
  }

  private static func check(_ state: RelationshipState, _ plain: Plain, _ note: String) {
    let keys = state.keys()
    #expect(plain.isOrdered ? keys == plain.current : Set(keys) == Set(plain.current), "\(note)")
    #expect(keys.count == Set(keys).count && state.count == keys.count, "\(note)")
    #expect(state.hasChanges == plain.hasChanges, "\(note)")
    #expect(
      state.removed.isDisjoint(with: state.added) && Set(plain.committed).isDisjoint(with: state.added),
      "\(note)")
    for key in 1...40 as ClosedRange<UInt64> {
      #expect(state.contains(key) == plain.current.contains(key), "\(note), \(key)")
    }
    for (index, key) in keys.enumerated() where plain.isOrdered {
      #expect(state.key(at: index) == key && state.index(of: key) == index, "\(note)")
    }
  }
}
