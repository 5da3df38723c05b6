import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A library on a file system that a test brings.
enum GraphSession {
  /// Small segments and frequent checkpoints, all on the caller's thread.
  static var options: EngineOptions {
    var options = Session.options
    options.checkpointBytes = 64 << 10
    return options
  }

  static func open(
    _ fileSystem: any FileSystem, at path: String = Session.path, options: EngineOptions = Self.options,
    isBuffered: Bool = true
  ) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Library", managedObjectModel: try model.get())
    let description = PersistentStoreDescription(url: URL(filePath: path))
    description.fileSystem = fileSystem
    description.isBuffered = isBuffered
    description.engineOptions = options
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

  /// The whole life of a library: every save, with the store closed and opened between some of them.
  static func live(on fileSystem: any FileSystem, _ reference: GraphWitness) throws {
    var container = try open(fileSystem)
    for (number, step) in GraphWorkload.steps.enumerated() {
      reference.begin()
      try run(step, on: container)
      reference.acknowledge()
      guard number.isMultiple(of: 4) else { continue }
      try container.close()
      container = try open(fileSystem)
    }
    try container.close()
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
    try require(report.isSound, "not sound: \(report.findings)")
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
  private var whenNarrowed: (@Sendable () -> Void)?

  init(_ states: [GraphFacts]) { self.states = states }

  /// The number of the last save that was acknowledged.
  var number: Int { lock.withLock { acknowledged } }

  var newest: GraphFacts { states[number] }

  var now: GraphChecker { GraphChecker(candidates: candidates) }

  /// All that may be found after a crash now.
  var candidates: [GraphFacts] {
    lock.withLock { Array(states[acknowledged...(isSaving ? acknowledged + 1 : acknowledged)]) }
  }

  func begin() { lock.withLock { isSaving = true } }

  /// The save was acknowledged, or found to be there.
  func acknowledge() {
    let action = lock.withLock {
      isSaving = false
      acknowledged += 1
      return whenNarrowed
    }
    action?()
  }

  /// The save did not happen.
  func withdraw() {
    let action = lock.withLock {
      isSaving = false
      return whenNarrowed
    }
    action?()
  }

  /// Lets `action` be called whenever less may be found than before.
  func whenNarrowed(_ action: @escaping @Sendable () -> Void) { lock.withLock { whenNarrowed = action } }
}
