import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

/// A library on a file system that a test brings.
enum GraphSession {
  /// Small segments and frequent checkpoints, all on the caller's thread.
  static func open(_ fileSystem: any FileSystem) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Library", managedObjectModel: try model.get())
    let description = PersistentStoreDescription(url: URL(filePath: Session.path))
    description.fileSystem = fileSystem
    description.isBuffered = true
    description.engineOptions = Session.options
    description.engineOptions?.checkpointBytes = 64 << 10
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  /// One for all: a frozen model stays as long as the process.
  private static let model = Result { try ManagedObjectModel(types: Library.types) }

  /// One save in a context of its own.
  static func run(_ step: GraphStep, on container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      try step.edit(context)
      try context.save()
    }
  }

  /// What there is to be seen before the first save, and after each of them, where nothing goes wrong.
  static func states() throws -> [GraphFacts] {
    let container = try open(MemoryFileSystem())
    var states = [try GraphFacts(of: container)]
    for step in GraphWorkload.steps {
      try run(step, on: container)
      states.append(try GraphFacts(of: container))
    }
    let report = try container.persistentStoreCoordinator.verify()
    #expect(report.findings == [])
    try container.close()
    return states
  }
}

/// Which of the states have to be there, and which may be.
final class GraphWitness: @unchecked Sendable {
  private let lock = Lock()
  private let states: [GraphFacts]
  private var acknowledged = 0
  private var isSaving = false

  init(_ states: [GraphFacts]) { self.states = states }

  /// The number of the last save that was acknowledged.
  var number: Int { lock.withLock { acknowledged } }

  var newest: GraphFacts { states[number] }

  /// All that may be found after a crash now.
  var candidates: [GraphFacts] {
    lock.withLock { Array(states[acknowledged...(isSaving ? acknowledged + 1 : acknowledged)]) }
  }

  func begin() { lock.withLock { isSaving = true } }

  /// The save was acknowledged, or found to be there.
  func acknowledge() {
    lock.withLock {
      isSaving = false
      acknowledged += 1
    }
  }

  /// The save did not happen.
  func withdraw() { lock.withLock { isSaving = false } }
}

/// Opens the graph in images of crashes, and knows those it has opened before.
final class GraphImageChecker: @unchecked Sendable {
  private let lock = Lock()
  private var found: [Int: GraphFacts] = [:]
  private(set) var imageCount = 0
  private var failureCount = 0

  var distinctCount: Int { found.count }

  /// One of `candidates` has to be in the image, whole and sound.
  func check(_ image: CrashImage, _ candidates: [GraphFacts], after moment: String) {
    lock.withLock {
      imageCount += 1
      guard failureCount < 5 else { return }
      do {
        let facts = try found[image.fingerprint] ?? facts(in: image)
        found[image.fingerprint] = facts
        guard !candidates.contains(facts) else { return }
        fail(
          image, moment,
          "found\n\(facts)\npossible\n" + candidates.map(\.description).joined(separator: "\nor\n"))
      } catch {
        fail(image, moment, "\(error)")
      }
    }
  }

  private func fail(_ image: CrashImage, _ moment: String, _ message: String) {
    failureCount += 1
    Issue.record("crash before \(moment), \(image): \(message)")
  }

  /// What is in an image, which has to be sound, and to go on being a store.
  private func facts(in image: CrashImage) throws -> GraphFacts {
    let disk = image.mounted()
    let container = try GraphSession.open(disk)
    let facts = try GraphFacts(of: container)
    try verify(container)
    // Going on is looked at for some of them: it takes as long as all the rest.
    if found.count.isMultiple(of: 8) { try goOn(container, on: disk) }
    try container.close()
    return facts
  }

  private func goOn(_ container: PersistentContainer, on disk: SimulatedFileSystem) throws {
    let step = GraphStep("after the crash") { Subject(context: $0).name = "after the crash" }
    try GraphSession.run(step, on: container)
    let facts = try GraphFacts(of: container)
    try container.close()
    let again = try GraphSession.open(disk)
    guard try GraphFacts(of: again) == facts else {
      throw Finding(text: "saved once more, the store shows\n\(try GraphFacts(of: again))")
    }
    try verify(again)
    try again.close()
  }

  private func verify(_ container: PersistentContainer) throws {
    let report = try container.persistentStoreCoordinator.verify()
    guard report.isSound else { throw Finding(text: "not sound: \(report.findings)") }
  }

  private struct Finding: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }
}
