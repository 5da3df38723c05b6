import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import Observation
import Synchronization
import TestSupport
import Testing

@Suite struct `Live queries` {
  private func adults() -> FetchRequest<Person> {
    FetchRequest(where: { $0.age >= 18 }, sort: [.ascending(\.age)])
  }

  @Test func `a query gives the present result and each further one, with differences and updates`()
    async throws
  {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let ids = try await context.perform {
      let people = [20, 30, 10].map { context.makePerson("\($0)", age: $0) }
      try context.save()
      return people.map(\.objectID)
    }
    var results = context.liveQuery(adults()).makeAsyncIterator()
    let first = try #require(try await results.next())
    #expect(first.objectIDs == [ids[0], ids[1]])
    #expect([].applying(first.difference) == first.objectIDs && first.updatedObjectIDs.isEmpty)
    await context.perform {
      (context.object(with: ids[0]) as Person).age = 40
      (context.object(with: ids[1]) as Person).name = "thirty"
      (context.object(with: ids[2]) as Person).age = 18
    }
    let second = try #require(try await results.next())
    #expect(second.objectIDs == [ids[2], ids[1], ids[0]])
    #expect(first.objectIDs.applying(second.difference) == second.objectIDs)
    #expect(second.updatedObjectIDs == [ids[0], ids[1]])
  }

  @Test func `results that are not taken are joined, and nothing is lost after a reset`() async throws {
    let context = try makeContainer().newBackgroundContext()
    var results = context.liveQuery(adults()).makeAsyncIterator()
    let first = try #require(try await results.next())
    #expect(first.objectIDs.isEmpty)
    let ids = try await context.perform {
      let people = [20, 30, 40].map { context.makePerson("\($0)", age: $0) }
      context.processPendingChanges()
      try context.save()
      people[0].age = 50
      context.processPendingChanges()
      context.delete(people[1])
      context.processPendingChanges()
      return people.map(\.objectID)
    }
    let second = try #require(try await results.next())
    #expect(second.objectIDs == [ids[2], ids[0]] && [].applying(second.difference) == second.objectIDs)
    await context.perform { context.reset() }
    let third = try #require(try await results.next())
    #expect(third.objectIDs == [ids[0], ids[1], ids[2]])
    #expect(second.objectIDs.applying(third.difference) == third.objectIDs)
  }

  @Test func `a query of a request that does not fit the model throws`() async throws {
    let request = FetchRequest<Person>(entityName: "Nothing")
    var results = try makeContainer().liveQuery(request).makeAsyncIterator()
    await #expect(throws: HeartwoodError.self) { try await results.next() }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a query in a context of its own follows what others save`(seed: UInt64) async throws {
    let container = try makeContainer()
    let query = container.liveQuery(ofLargeCompanies())
    let shared = Guarded<[ManagedObjectID]?>(nil)
    let writing = container.newBackgroundContext()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var copy: [ManagedObjectID] = []
        for try await result in query {
          copy = try #require(copy.applying(result.difference))
          #expect(copy == result.objectIDs, "seed \(seed)")
          if let wanted = shared.withLock({ $0 }), copy == wanted { return }
        }
      }
      group.addTask {
        var random = SplitMix64(seed: seed)
        for _ in 0..<40 {
          let seed = random.next()
          try await writing.perform {
            var random = SplitMix64(seed: seed)
            try editRandomly(writing, &random)
            try writing.save()
          }
        }
        try await writing.perform {
          // The expected result is known before the last save, which changes the result.
          let company = writing.makeCompany("last")
          company.size = 9
          let person = writing.makePerson("last", age: 99, in: company)
          try writing.obtainPermanentIDs(for: [person])
          let wanted = try writing.fetch(ofLargeCompanies()).map(\.objectID)
          shared.withLock { $0 = wanted }
          try writing.save()
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `a query may follow other processes`() async throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    let description = PersistentStoreDescription(url: folder.store)
    // An engine of its own, as another process has.
    description.fileSystem = FaultInjectingFileSystem(base: PosixFileSystem())
    let apart = PersistentStoreCoordinator(managedObjectModel: try ManagedObjectModel(types: companyTypes))
    try apart.addPersistentStore(with: description)
    var results = container.liveQuery(adults(), followsOtherProcesses: true).makeAsyncIterator()
    #expect(try await results.next()?.objectIDs.isEmpty == true)
    let there = ManagedObjectContext(.privateQueue, coordinator: apart)
    try await there.perform {
      _ = there.makePerson("Ada", age: 36)
      try there.save()
    }
    #expect(try await results.next()?.objectIDs.count == 1)
    try apart.close()
    try container.close()
  }

  @Test func `the Observation framework sees changes of live objects`() throws {
    let context = try makeContainer().newBackgroundContext()
    let people = [20, 30].map { context.makePerson("\($0)", age: $0) }
    let live = try LiveObjects(adults(), in: context)
    #expect(live.objects == people)
    #expect([].applying(live.difference) == people.map(\.objectID))
    let changes = Mutex(0)
    func observe() {
      withObservationTracking {
        _ = live.objects
      } onChange: {
        changes.withLock { $0 += 1 }
      }
    }
    observe()
    let third = context.makePerson("10", age: 10)
    context.processPendingChanges()
    #expect(changes.withLock { $0 } == 0)
    let former = live.objects.map(\.objectID)
    third.age = 25
    people[0].age = 21
    context.processPendingChanges()
    #expect(changes.withLock { $0 } == 1 && live.objects == [people[0], third, people[1]])
    #expect(former.applying(live.difference) == live.objects.map(\.objectID))
    #expect(live.updatedObjectIDs == [people[0].objectID] && live.error == nil)
    try context.save()
    observe()
    context.reset()
    #expect(changes.withLock { $0 } == 2 && live.objects.map(\.age) == [21, 25, 30])
    live.objects[0].age = 90
    context.processPendingChanges()
    #expect(live.objects.map(\.age) == [25, 30, 90])
  }
}

private func ofLargeCompanies() -> FetchRequest<Person> {
  FetchRequest(
    where: { $0.age >= 18 && $0.company.size > 5 }, sort: [.ascending(\.company?.name), .ascending(\.age)])
}

/// A few changes of people and companies.
private func editRandomly(_ context: ManagedObjectContext, _ random: inout SplitMix64) throws {
  let (people, companies) = (try context.fetch(Person.self), try context.fetch(Company.self))
  for _ in 0..<Int.random(in: 1...3, using: &random) {
    let value = Int64.random(in: 0..<40, using: &random)
    let person = people.filter { !$0.isDeleted }.randomElement(using: &random)
    let company = companies.randomElement(using: &random)
    switch Int.random(in: 0..<7, using: &random) {
    case 0...2: _ = context.makePerson("P", age: value, in: company)
    case 3 where companies.count < 5: context.makeCompany(UUID().uuidString).size = value
    case 4: company?.name = "\(value)"
    case 5: company?.size = value % 12
    default:
      if value % 5 == 0, let person { context.delete(person) } else { person?.age = value }
    }
  }
}
