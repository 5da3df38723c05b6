import BenchmarkHarness
import Foundation
import Heartwood
import HeartwoodEngine

/// The costs of a store's past: recording history and reading it, differences of generations, past states, change sets, copies of each
/// commit.
struct TimeBenchmark {
  let options: Options

  private var objects: Int { options.objects ?? 100_000 }

  /// One line for each row.
  func run() throws -> [String] {
    let scratch = try Scratch(in: options.directory, named: "time")
    var lines = try [recording(in: scratch.path)]
    let people = try Scratch(in: options.directory, named: "time-people")
    let loaded = try PersistentContainer.people(in: people.path)
    let context = loaded.newBackgroundContext()
    try context.performAndWait { try People(objects: objects).save(in: context) }
    lines += try past(of: loaded, changedBefore: 0, "no checkpoint since the load: ")
    // Closing takes a checkpoint.
    try loaded.close()
    let container = try PersistentContainer.people(in: people.path)
    defer { try? container.close() }
    lines += try past(of: container, changedBefore: 100, "a checkpoint since: ")
    lines += try held(of: container) + merging(of: container) + copies(of: container, in: scratch.path)
    return lines
  }

  /// Saves of a hundred objects, with a history and without, in turns.
  private func recording(in directory: String) throws -> String {
    let rounds = options.rounds ?? 5
    var ratios: [Double] = []
    for round in 0..<rounds {
      progress("recording history, round \(round + 1) of \(rounds)")
      let people = People(objects: objects / 5)
      func seconds(tracksHistory: Bool) throws -> Double {
        let folder = try Scratch(in: directory, named: tracksHistory ? "with" : "without")
        let description = PersistentStoreDescription(
          url: URL(fileURLWithPath: folder.path).appending(path: "people.heartwood"))
        description.tracksHistory = tracksHistory
        let container = PersistentContainer(
          name: "People", managedObjectModel: try ManagedObjectModel(types: [Company.self, Person.self]))
        container.persistentStoreDescriptions = [description]
        try container.loadPersistentStores()
        defer { try? container.close() }
        let context = container.newBackgroundContext()
        return try context.performAndWait {
          try timed {
            for first in stride(from: 0, to: people.persons.count, by: 100) {
              for person in people.persons[first..<min(first + 100, people.persons.count)] {
                _ = Person(person, of: nil, context: context)
              }
              try context.save()
              context.reset()
            }
          }.seconds
        }
      }
      let first = try seconds(tracksHistory: round % 2 == 0)
      let second = try seconds(tracksHistory: round % 2 == 1)
      ratios.append(round % 2 == 0 ? first / second : second / first)
    }
    return "saves of 100 with a history, to those without: \(decimal(median(ratios), places: 2))"
  }

  /// - Parameters:
  ///   - changed: How many changes there are since the load.
  ///   - prefix: The beginning of the names of the lines.
  private func past(
    of container: PersistentContainer, changedBefore changed: Int, _ prefix: String
  ) throws -> [String] {
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let first = try newest(container)
      // A large store reclaims space by itself.
      try coordinator.hold("before", generation: first)
      defer { _ = try? coordinator.releaseHold("before") }
      var persons = try context.fetch(Person.self, sort: [.ascending(\.number)], limit: 100)
      for person in persons { person.age += 1 }
      try context.save()
      let last = try newest(container)
      let object = persons[0].objectID
      persons = []
      context.reset()
      let date = Date.now
      var lines: [String] = []
      /// The first call, which opens past generations, and those after it, which find them open.
      func measure(_ name: String, _ body: () throws -> Int, expecting count: Int) throws {
        progress(name)
        let first = try timed(body)
        let (seconds, found) = try timedRepeatedly(least: options.least, body)
        guard first.result == count, found == count else {
          throw BenchmarkError("\(name): \(first.result) and \(found) in place of \(count)")
        }
        let (before, after) = (
          decimal(first.seconds * 1e6, places: 1), decimal(seconds * 1e6, places: 1)
        )
        lines.append("\(prefix)\(name): \(before) µs, and again \(after) µs")
      }
      let companies = max(10, objects / 100)
      let changes = objects + companies + changed + 100
      try measure(
        "history of \(changes) changes, nearly all of one transaction",
        { try container.history().reduce(0) { $0 + ($1.changes?.count ?? 0) } }, expecting: changes)
      try measure(
        "history of one of these objects",
        { try history(in: context, FormatPredicate("changedObjectURI == %@", "\(object)")) },
        expecting: 2 + changed / 100)
      try measure(
        "history of an entity with \(companies) of these changes",
        { try history(in: context, FormatPredicate("entityName == 'Company'")) }, expecting: companies)
      try measure(
        "differences of two generations that differ in 100 objects of \(objects)",
        { try coordinator.differences(from: first, to: last).count }, expecting: 100)
      try measure(
        "change set of them", { try coordinator.changeSet(from: first, to: last).count }, expecting: 100)
      try measure(
        "a context as of a transaction, and its first fetch",
        { try count(in: container, at: coordinator.queryGenerationToken(forGeneration: first)) }, expecting: 1
      )
      try measure(
        "a context as of a date, and its first fetch",
        { try count(in: container, at: coordinator.queryGenerationToken(asOf: date)) }, expecting: 1)
      return lines
    }
  }

  /// The memory that a held generation costs while all objects change.
  private func held(of container: PersistentContainer) throws -> [String] {
    progress("memory while a generation is held")
    let reader = container.newBackgroundContext()
    let context = container.newBackgroundContext()
    func change() throws -> Int {
      try context.performAndWait {
        let request = BatchUpdateRequest(entityName: "Person")
        request.propertiesToUpdate = ["age": 7]
        try context.execute(request)
      }
      return ProcessMemory.ownBytes()
    }
    _ = try change()
    let free = try change()
    try reader.performAndWait { try reader.setQueryGenerationFrom(.current) }
    _ = try reader.performAndWait { try reader.count(Person.self) }
    let held = try change()
    return [
      "memory after an update of \(objects) objects, with a held generation, above that without one: "
        + "\(decimal(Double(held - free) / 1e6, places: 1)) MB"
    ]
  }

  /// Saves of this process, until a context of another one has merged them.
  private func merging(of container: PersistentContainer) throws -> [String] {
    progress("from a commit to the merged object in another process")
    guard let url = container.persistentStoreCoordinator.persistentStores.first?.url else { return [] }
    let (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["mergeTurn", "--directory", url.deletingLastPathComponent().path]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    var lines = LineReader(output.fileHandleForReading)
    guard lines.next() == MergeTurn.isReady else {
      throw BenchmarkError("the other process did not open the store")
    }
    let context = container.newBackgroundContext()
    var lags: [Double] = []
    try context.performAndWait {
      guard let person = try context.fetch(Person.self, sort: [.ascending(\.number)], limit: 1).first else {
        return
      }
      for number in 1...200 {
        person.age = Int64(1_000 + number)
        let start = MergeTurn.now
        try context.save()
        guard let line = lines.next(), let time = UInt64(line.split(separator: " ").last ?? "") else {
          throw BenchmarkError("the other process ended")
        }
        guard line.hasPrefix("\(person.age) ") else {
          throw BenchmarkError("the other process has \(line) in place of \(person.age)")
        }
        lags.append(Double(time - start) / 1e9)
      }
    }
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    lags.sort()
    return [
      "from before a save to the merged object in another process, median: \(decimal(median(lags) * 1e3, places: 2)) ms",
      "the same, 99 % of the saves: \(decimal(lags[lags.count * 99 / 100] * 1e3, places: 2)) ms",
    ]
  }

  private func count(in container: PersistentContainer, at token: QueryGenerationToken) throws -> Int {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      try context.setQueryGenerationFrom(token)
      return try context.fetch(Person.self, where: { $0.joined == 86_400 }).count
    }
  }

  /// How many changes of the history satisfy a predicate.
  private func history(in context: ManagedObjectContext, _ predicate: some FetchPredicate) throws -> Int {
    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.changePredicate = predicate
    return try context.execute(request).transactions.reduce(0) { $0 + ($1.changes?.count ?? 0) }
  }

  private func newest(_ container: PersistentContainer) throws -> UInt64 {
    guard let token = container.currentHistoryToken else { throw BenchmarkError("no history") }
    return token.transactionNumber
  }

  /// Shipping and following on threads of their own, and a commit every few milliseconds.
  private func copies(of container: PersistentContainer, in directory: String) throws -> [String] {
    let (place, copy, again) = (directory + "/place", directory + "/copy", directory + "/again")
    let shipper = try container.persistentStoreCoordinator.shipper(
      to: FolderDestination(place, creates: true))
    let base = try timed { try shipper.ship() }
    let follower = Follower(from: try FolderDestination(place), to: copy)
    let followed = try timed { try follower.advance() }
    let arrivals = Arrivals()
    let threads = DispatchGroup()
    DispatchQueue.global().async(group: threads) { shipper.run { (try? $0.get()) != nil } }
    DispatchQueue.global().async(group: threads) {
      follower.run { outcome in
        guard let report = try? outcome.get() else { return false }
        arrivals.note(report.generation.rawValue)
        return true
      }
    }
    defer {
      shipper.stop()
      follower.stop()
      threads.wait()
      follower.close()
    }
    let context = container.newBackgroundContext()
    var lags: [Double] = []
    progress("lag of a follower")
    try context.performAndWait {
      guard let person = try context.fetch(Person.self, limit: 1).first else { return }
      for number in 0..<200 {
        person.age = Int64(number)
        try context.save()
        let saved = try newest(container)
        lags.append(timed { arrivals.wait(for: saved) }.seconds)
      }
    }
    lags.sort()
    let restored = try timed { try Restoration(from: FolderDestination(place)).restore(to: again) }
    return [
      "shipping all of the store: \(decimal(base.seconds * 1e3, places: 1)) ms, \(base.result.bytes) bytes",
      "following it for the first time: \(decimal(followed.seconds * 1e3, places: 1)) ms",
      "from a save that returned to the follower's store, median: \(decimal(median(lags) * 1e3, places: 2)) ms",
      "the same, 99 % of the saves: \(decimal(lags[lags.count * 99 / 100] * 1e3, places: 2)) ms",
      "restoring the store: \(decimal(restored.seconds * 1e3, places: 1)) ms",
    ]
  }
}

/// The newest generation that a follower has.
private final class Arrivals: @unchecked Sendable {
  private let condition = NSCondition()
  private var newest: UInt64 = 0

  func note(_ generation: UInt64) {
    condition.lock()
    newest = max(newest, generation)
    condition.broadcast()
    condition.unlock()
  }

  func wait(for generation: UInt64) {
    condition.lock()
    while newest < generation { condition.wait() }
    condition.unlock()
  }
}
