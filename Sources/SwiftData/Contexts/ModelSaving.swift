import Foundation
import Heartwood

/// A save of a context of models.
struct ModelSaving {
  private let context: ModelContext
  private var objects: ModelObjectContext { context.objects }

  init(_ context: ModelContext) { self.context = context }

  func save() throws {
    let problems = objects.takeProblems()
    guard problems.isEmpty else {
      throw SwiftDataError(.modelValidationFailure, problems.joined(separator: "; "))
    }
    try StoreDeletion.execute(in: context)
    objects.processPendingChanges()
    guard objects.hasChanges else { return }
    NotificationCenter.default.post(name: ModelContext.willSave, object: context)
    objects.processPendingChanges()
    try leaveOneWayRelationships()
    // Models that are deleted read as they were, so their values are read before their rows are gone.
    let deleted = objects.listsOfChanges.deleted.compactMap { $0 as? _ModelObject }.filter { $0.model != nil }
    let values = deleted.map { ModelValues.storedValues(of: $0) }
    let before = ChangedIdentifiers(objects)
    try ModelErrors.translating(isOfProgram: !context.contents.stores.custom.isEmpty) { try objects.save() }
    for (object, stored) in zip(deleted, values) { ModelValues.detachModels(of: object, with: stored) }
    before.followUnited()
    objects.releaseKept()
    objects.readChangedByStore()
    post(before)
  }

  private func leaveOneWayRelationships() throws {
    // A program's store decides itself what its lists have.
    guard context.contents.stores.custom.isEmpty else { return }
    let deleted = objects.listsOfChanges.deleted
    guard !deleted.isEmpty else { return }
    // An undone deletion is a new model, which nothing referred to, and one step.
    let undoManager = context.undoManager
    undoManager?.disableUndoRegistration()
    defer { undoManager?.enableUndoRegistration() }
    try ModelErrors.translating {
      try context.contents.models.oneWayRelationships.remove(deleted, in: objects)
    }
    objects.processPendingChanges()
  }

  private func post(_ changes: ChangedIdentifiers) {
    var userInfo = changes.userInfo
    if let token = context.contents.coordinator.currentPersistentHistoryToken() {
      userInfo[ModelContext.NotificationKey.queryGeneration.rawValue] = DefaultHistoryToken(token)
    }
    NotificationCenter.default.post(name: ModelContext.didSave, object: context, userInfo: userInfo)
  }
}

/// The identifiers of a save's models.
private struct ChangedIdentifiers {
  private let inserted: [_ModelObject]
  private let updated: [PersistentIdentifier]
  private let deleted: [PersistentIdentifier]

  init(_ objects: ModelObjectContext) {
    let changes = objects.listsOfChanges
    inserted = changes.inserted.compactMap { $0 as? _ModelObject }
    updated = changes.updated.compactMap { ($0 as? _ModelObject)?.persistentIdentifier }
    deleted = changes.deleted.compactMap { ($0 as? _ModelObject)?.persistentIdentifier }
  }

  /// After the save: models that were inserted with unique values that a stored object had are models of that one.
  func followUnited() {
    for object in inserted {
      guard let survivor = object.standing as? _ModelObject, survivor !== object else { continue }
      ModelValues.moveModels(of: object, to: survivor)
    }
  }

  /// After the save, which gives new models their identifiers.
  var userInfo: [AnyHashable: Any] {
    [
      ModelContext.NotificationKey.insertedIdentifiers.rawValue: inserted.map(\.persistentIdentifier),
      ModelContext.NotificationKey.updatedIdentifiers.rawValue: updated,
      ModelContext.NotificationKey.deletedIdentifiers.rawValue: deleted,
    ]
  }
}

extension ModelContext {
  /// Posted by a context before a save, without a `userInfo`.
  public static let willSave = Notification.Name("SwiftDataModelContextWillSave")
  /// Posted by a context after a save.
  public static let didSave = Notification.Name("SwiftDataModelContextDidSave")

  /// The keys in the `userInfo` of a context's notifications, by their raw values.
  public enum NotificationKey: String, Hashable, Sendable {
    /// The position of the stores' history after the save, a `DefaultHistoryToken`; only `didSave` has it.
    case queryGeneration
    /// The identifiers of all models that the context had when its container was erased, a `[PersistentIdentifier]`. A `didSave` with this key
    /// has no others.
    case invalidatedAllIdentifiers
    /// The identifiers of inserted models, a `[PersistentIdentifier]`.
    case insertedIdentifiers = "inserted"
    /// The identifiers of updated models, a `[PersistentIdentifier]`.
    case updatedIdentifiers = "updated"
    /// The identifiers of deleted models, a `[PersistentIdentifier]`.
    case deletedIdentifiers = "deleted"
  }
}

/// Errors of the graph as those of SwiftData.
enum ModelErrors {
  /// - Parameter isOfProgram: Whether a custom store may have thrown the error, which is that of the context then.
  static func translating<Result>(isOfProgram: Bool = false, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as HeartwoodError {
      if isOfProgram, let own = error.underlying, !(own is HeartwoodError) { throw own }
      throw translated(error)
    }
  }

  /// As `translating`, for what a fetch may throw.
  static func fetching<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as HeartwoodError where error.code == .coreData || error.code == .invalidPredicate {
      throw SwiftDataError(.unsupportedPredicate, underlying: error)
    } catch let error as HeartwoodError {
      throw translated(error)
    }
  }

  /// The error of a save that found unique values which it could not make those of one model: only a new model becomes the stored one, of
  /// its own class.
  private static func conflictText(_ conflicts: [ConstraintConflict]) -> String {
    conflicts.map { conflict in
      let names = conflict.constraint.joined(separator: ", ")
      let classes = Set(conflict.conflictingObjects.compactMap { $0.entity.name }).union(
        conflict.databaseObject.flatMap(\.entity.name).map { [$0] } ?? [])
      let both = classes.sorted().joined(separator: ", ")
      guard classes.count > 1 else {
        return
          "\(names) is unique, and two stored models of \(both) have the same: change or delete one of the two"
      }
      return
        "\(names) is unique, and models of \(both) have the same: only a model of the same class is updated by such a save"
    }
    .joined(separator: "; ")
  }

  static func translated(_ error: HeartwoodError) -> any Error {
    switch error.code {
    case .persistentHistoryTokenExpired: SwiftDataError(.historyTokenExpired, underlying: error)
    case .managedObjectConstraintMerge:
      SwiftDataError(.modelValidationFailure, conflictText(error.constraintConflicts), underlying: error)
    case _ where (1550...1690).contains(error.code.rawValue):
      SwiftDataError(.modelValidationFailure, underlying: error)
    default: error
    }
  }
}
