import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Temporary identifiers that were kept over a save.
@Suite struct `A temporary identifier kept from before a save` {
  private let context: ManagedObjectContext
  private let person: Person
  private let temporary: ManagedObjectID

  init() throws {
    context = try makeContainer().newBackgroundContext()
    person = context.makePerson("A", age: 1)
    context.makePerson("B", age: 2).idol = person
    temporary = person.objectID
    try context.save()
  }

  // G16
  @Test func `is refused in conditions instead of selecting nothing, or everything`() throws {
    #expect(temporary.isTemporaryID && !person.objectID.isTemporaryID)
    for format in ["SELF == %@", "SELF != %@", "idol == %@", "SELF IN %@", "NOT SELF IN %@"] {
      let argument: any PredicateArgument = format.contains("IN") ? [temporary] : temporary
      let request = FetchRequest<Person>()
      let error = #expect(throws: HeartwoodError.self) {
        request.predicate = try FormatPredicate(format, argument)
        _ = try context.fetch(request)
      }
      #expect(error?.message.contains("temporary identifier") == true, "\(format)")
    }
  }

  @Test func `finds no object, and says why`() throws {
    let error = #expect(throws: HeartwoodError.self) { try context.existingObject(with: temporary) }
    #expect(error?.message.contains("temporary identifier") == true)
  }

  @Test func `is still allowed where the object is not saved yet`() throws {
    let new = context.makePerson("C", age: 3)
    let request = FetchRequest<Person>()
    request.predicate = try FormatPredicate("SELF == %@", new.objectID)
    #expect(try context.fetch(request) == [new])
    // A request made before a save with the object, and executed after it, finds it.
    try context.save()
    #expect(try context.fetch(request) == [new])
  }

  @Test func `ranges of keys are a set`() {
    var (ranges, set, random) = (KeyRanges(), Set<UInt64>(), SplitMix64(seed: 16))
    for _ in 0..<2000 {
      let key = UInt64(random.below(300))
      ranges.insert(key)
      set.insert(key)
      let asked = UInt64(random.below(302))
      #expect(ranges.contains(asked) == set.contains(asked))
    }
    let gaps = set.filter { !set.contains($0 + 1) }.count
    #expect(ranges.count == gaps)
    var ascending = KeyRanges()
    for key in 0..<1000 as Range<UInt64> { ascending.insert(key) }
    #expect(ascending.count == 1 && ascending.contains(999) && !ascending.contains(1000))
  }
}
