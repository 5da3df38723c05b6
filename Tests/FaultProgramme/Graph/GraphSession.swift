import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The graph workload on any file system.
enum GraphSession {
  /// Options for small segments, frequent checkpoints, and work on the caller's thread.
  static var options: EngineOptions {
    var options = Session.options
    options.checkpointBytes = 64 << 10
    return options
  }

  static func open(
    _ fileSystem: any FileSystem, at path: String = Session.path, options: EngineOptions = Self.options,
    isBuffered: Bool = true, model: Result<ManagedObjectModel, any Error> = Self.model,
    _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Store", managedObjectModel: try model.get())
    let description = PersistentStoreDescription(url: URL(filePath: path))
    description.fileSystem = fileSystem
    description.isBuffered = isBuffered
    description.engineOptions = options
    edit(description)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  /// One model for all runs, because a frozen model is never deallocated.
  static let model = Result { try ManagedObjectModel(types: Library.types) }

  /// Executes one save in its own context.
  static func run(_ step: GraphStep, on container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      try step.edit(context)
      try context.save()
    }
  }

  /// Executes the whole workload: every save, and reopening of the store between some of them.
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

  /// The states before the first save and after each save of a run without faults.
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

typealias GraphWitness = StateWitness<GraphFacts>

/// Tracks which states must exist and which may.
final class StateWitness<State: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private let states: [State]
  private var acknowledged = 0
  private var isSaving = false
  private var whenNarrowed: (@Sendable () -> Void)?

  init(_ states: [State]) { self.states = states }

  /// The number of the last acknowledged save.
  var number: Int { lock.withLock { acknowledged } }

  var newest: State { states[number] }

  /// All states that may be found after a crash at this moment.
  var candidates: [State] {
    lock.withLock { Array(states[acknowledged...(isSaving ? acknowledged + 1 : acknowledged)]) }
  }

  func begin() { lock.withLock { isSaving = true } }

  /// Records that the save was acknowledged or found.
  func acknowledge() {
    let action = lock.withLock {
      isSaving = false
      acknowledged += 1
      return whenNarrowed
    }
    action?()
  }

  /// Records that the save did not happen.
  func withdraw() {
    let action = lock.withLock {
      isSaving = false
      return whenNarrowed
    }
    action?()
  }

  /// Sets an action that is called whenever the set of allowed states shrinks.
  func whenNarrowed(_ action: @escaping @Sendable () -> Void) { lock.withLock { whenNarrowed = action } }
}

extension GraphWitness {
  var now: GraphChecker { GraphChecker(candidates: candidates) }
}
