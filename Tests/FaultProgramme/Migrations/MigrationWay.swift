import Foundation
import Heartwood

/// How a store is migrated that may be interrupted at any time.
enum MigrationWay: String, CaseIterable, Sendable {
  /// Inferred from the two models, with all rows written again.
  case inferred
  /// By a mapping model, to a store beside that takes the place of the former one.
  case mapping
  /// In stages, with code after the first.
  case staged
  /// By `heartwood migrate`, as inferred.
  case command

  /// The model that the migration leads to.
  var model: ManagedObjectModel { self == .staged ? MigratedBoxes.last : MigratedBoxes.second }

  /// Migrates a store, or goes on with it, in this process.
  func migrate(_ url: URL, _ edit: MigratedBoxes.Edit = { _ in }) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let description = PersistentStoreDescription(url: url)
    edit(description)
    description.createsStore = false
    description.defersLightweightMigration = self == .staged
    if self == .mapping { description.mappingModel = MigratedBoxes.mapping() }
    if self == .staged { description.stagedMigrationManager = MigratedBoxes.stages() }
    try coordinator.addPersistentStore(with: description)
    try coordinator.close()
  }

  /// The contents that a store may have when its migration was interrupted: as it was, at the end, and what its
  /// stages leave.
  ///
  /// - Parameters:
  ///   - folder: Where stores are made.
  ///   - make: Makes a store of the first version.
  func states(
    in folder: URL, _ edit: MigratedBoxes.Edit = { _ in }, make: (URL) throws -> Void
  ) throws -> [[String]] {
    let url = folder.appending(path: "expected-\(rawValue)")
    try make(url)
    var states = [try MigratedBoxes.facts(url, edit)]
    if self == .staged {
      // Between the step and its code, and between the stages.
      for isDone in [false, true] {
        let between = folder.appending(path: "between-\(isDone)")
        try make(between)
        try MigratedBoxes.step(between, withCode: isDone, edit)
        states.append(try MigratedBoxes.facts(between, edit))
      }
    }
    try migrate(url, edit)
    return states + [try MigratedBoxes.facts(url, edit)]
  }
}
