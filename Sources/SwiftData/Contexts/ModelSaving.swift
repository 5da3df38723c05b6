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
    // Models that are deleted read as they were, so their values are loaded before their rows are gone.
    let deleted = objects.anyDeletedObjects.compactMap { ($0 as? _ModelObject)?.model }
    let values = deleted.map { ($0, DeletedValues($0)) }
    let before = ChangedIdentifiers(objects)
    NotificationCenter.default.post(name: ModelContext.willSave, object: context)
    try ModelErrors.translating(isOfProgram: !context.contents.stores.custom.isEmpty) { try objects.save() }
    for (model, values) in values { values.detach(model) }
    objects.releaseKept()
    objects.readChangedByStore()
    post(before)
  }

  private func post(_ changes: ChangedIdentifiers) {
    var userInfo = changes.userInfo
    if let token = context.contents.coordinator.currentPersistentHistoryToken() {
      userInfo[ModelContext.NotificationKey.queryGeneration.rawValue] = DefaultHistoryToken(token)
    }
    NotificationCenter.default.post(name: ModelContext.didSave, object: context, userInfo: userInfo)
  }
}

/// The values of a model whose deletion is saved.
private struct DeletedValues {
  private let object: _ModelObject?

  init(_ model: any PersistentModel) {
    object = model._$storage.object
    // Fires the fault.
    if let property = ModelClass.of(type(of: model)).properties.first(where: { $0.coding != nil }) {
      _ = object?.storedValue(property.name, property.hash)
    }
  }

  func detach(_ model: some PersistentModel) { ModelValues.detach(model) }
}

/// The identifiers of a save's models.
private struct ChangedIdentifiers {
  private let inserted: [_ModelObject]
  private let updated: [PersistentIdentifier]
  private let deleted: [PersistentIdentifier]

  init(_ objects: ModelObjectContext) {
    inserted = objects.anyInsertedObjects.compactMap { $0 as? _ModelObject }
    updated = objects.anyUpdatedObjects.compactMap { ($0 as? _ModelObject)?.persistentIdentifier }
    deleted = objects.anyDeletedObjects.compactMap { ($0 as? _ModelObject)?.persistentIdentifier }
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
  /// - Parameter isOfProgram: Whether a store of a program may have thrown the error, which is that of the context then.
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

  /// What a save says that found the value of another class's model: a model is updated only by one of its own class.
  private static func conflictText(_ conflicts: [ConstraintConflict]) -> String {
    let texts = conflicts.map { conflict in
      let names = conflict.constraint.joined(separator: ", ")
      let classes = Set(conflict.conflictingObjects.compactMap { $0.entity.name }).union(
        conflict.databaseObject.flatMap(\.entity.name).map { [$0] } ?? [])
      return "\(names) is unique, and models of \(classes.sorted().joined(separator: ", ")) have the same"
    }
    return texts.joined(separator: "; ") + ": only a model of the same class is updated by such a save"
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
