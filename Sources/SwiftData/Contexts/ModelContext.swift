import Foundation
import Heartwood
import CoreData

/// Models that were fetched, and changes that are not saved.
///
/// A context is used by one thread at a time: in the actor that made it, or by the caller of the function that did. It merges what other contexts of
/// its container and other processes save when it is used next, the main context also between uses.
public final class ModelContext: Equatable, CustomDebugStringConvertible {
  /// The container.
  public var container: ModelContainer { contents.container }
  let contents: ContainerContents
  let objects: ModelObjectContext
  private let isMain: Bool

  /// A context that saves when it is asked to.
  public convenience init(_ container: ModelContainer) { self.init(container.contents, isMain: false) }

  convenience init(_ contents: ContainerContents, isMain: Bool) {
    self.init(ModelObjectContext(contents, isMain: isMain), isMain: isMain)
  }

  /// A context over one that models have kept.
  init(_ objects: ModelObjectContext, isMain: Bool) {
    contents = objects.container
    self.objects = objects
    self.isMain = isMain
    autosaveEnabled = isMain
    objects.begin(self)
  }

  deinit { objects.endKeeping() }

  // MARK: Settings

  /// Whether the context saves by itself. True for the main context, false for others.
  ///
  /// The main context saves once the main actor is free after a change, so never while the main thread is blocked, and not after the program ends.
  /// The context of a model actor for which this is set saves when the actor is suspended, or has nothing to do any more. Other contexts save
  /// when they are asked to. An error of such a save is printed to standard error, and the changes stay: `save()` throws it.
  public var autosaveEnabled: Bool {
    didSet { if autosaveEnabled { noteChange() } }
  }

  /// The undo manager that the context registers changes with; nil, the default, if they cannot be undone.
  public var undoManager: UndoManager? {
    get { (objects.anyUndoManager as? UndoManagerRegistrar)?.manager }
    set {
      objects.anyUndoManager = newValue.map { manager in
        UndoManagerRegistrar(manager, of: objects) { [weak objects = self.objects] in objects?.noteChange() }
      }
    }
  }

  /// Who makes the changes; the history records it.
  public var author: String? {
    get { objects.transactionAuthor }
    set { objects.transactionAuthor = newValue }
  }

  /// The author and the identity of the context, as stores of programs get it.
  public var editingState: EditingState {
    get { objects.editingState }
    set { objects.editingState = newValue }
  }

  // MARK: Changes

  /// Whether there is something to save.
  public var hasChanges: Bool { objects.hasChanges || !objects.deletions.isEmpty }
  /// The models that the next save inserts.
  public var insertedModelsArray: [any PersistentModel] { models(objects.anyInsertedObjects) }
  /// The models that the next save updates.
  public var changedModelsArray: [any PersistentModel] { models(objects.anyUpdatedObjects) }
  /// The models that the next save deletes.
  public var deletedModelsArray: [any PersistentModel] { models(objects.anyDeletedObjects) }

  private func models(_ objects: Set<ManagedObject>) -> [any PersistentModel] {
    objects.compactMap { $0 as? _ModelObject }.sorted { $0.objectID.key < $1.objectID.key }
      .compactMap { self.objects.model(of: $0) }
  }

  /// Inserts a model, and those without a context that its relationships lead to. Does nothing if it is in the context; one that is deleted in it is
  /// deleted no longer.
  ///
  /// A model of another context stays there: the next save throws `SwiftDataError.modelValidationFailure`.
  public func insert<T: PersistentModel>(_ model: T) {
    if let object = model._$storage.object {
      if object.belongs(to: objects) {
        if object.isDeleted { objects.insert(object) }
      } else {
        objects.noteProblem(
          "\(T.self) \(model.persistentModelID.primaryKey) is in another context: get it by its persistentModelID"
        )
      }
      return
    }
    objects.insertModel(model)
    noteChange()
  }

  /// Deletes a model at the next save, and those that delete rules name. Does nothing for a model without a context.
  public func delete<T: PersistentModel>(_ model: T) {
    guard let object = model._$storage.object else { return }
    guard object.belongs(to: objects) else {
      return objects.noteProblem(
        "\(T.self) \(model.persistentModelID.primaryKey) is in another context, and cannot be deleted in this one"
      )
    }
    guard !object.isDeleted else { return }
    objects.delete(object)
    object.keepModel()
    noteChange()
  }

  /// Deletes the models of a class that satisfy a predicate, at the next save, and those that delete rules name. A custom store that
  /// deletes by conditions itself is asked to when the save begins.
  ///
  /// - Parameters:
  ///   - model: The class.
  ///   - predicate: The condition; nil for all.
  ///   - includeSubclasses: Whether models of subclasses are deleted.
  /// - Throws: `SwiftDataError.unsupportedPredicate` if a store cannot evaluate the predicate; the error of a store.
  public func delete<T: PersistentModel>(
    model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
  ) throws {
    if try StoreDeletion.note(model, predicate, includeSubclasses, in: self) { return noteChange() }
    let request = try ModelFetch(FetchDescriptor<T>(predicate: predicate), in: self).request(
      ManagedObject.self)
    request.includesSubentities = includeSubclasses
    request.includesPropertyValues = false
    for object in try ModelErrors.fetching({ try objects.fetch(request) }) where !object.isDeleted {
      objects.delete(object)
      (object as? _ModelObject)?.keepModel()
    }
    noteChange()
  }

  /// Applies delete rules, and notifies observers of what has changed.
  public func processPendingChanges() {
    objects.mergeReceived()
    objects.processPendingChanges()
  }

  // MARK: Saving

  /// Saves the changes, as one transaction of each store. Models with values that are unique become those that the store has with them.
  ///
  /// - Throws: `SwiftDataError.modelValidationFailure` if a model is not as the schema requires, or the error of a store. The changes stay.
  public func save() throws {
    objects.mergeReceived()
    try ModelSaving(self).save()
  }

  /// Drops the changes: inserted models have no context then, deleted ones are there again, others have their saved values.
  public func rollback() {
    for case let inserted as _ModelObject in objects.anyInsertedObjects {
      ModelValues.detachModels(of: inserted)
    }
    objects.forgetProblems()
    objects.deletions = []
    objects.rollback()
    objects.releaseKept()
  }

  /// Runs a block and saves what it has changed.
  ///
  /// - Throws: The error of the block, after its changes and all others are dropped; what `save()` throws.
  public func transaction(block: () throws -> Void) throws {
    do {
      try block()
    } catch {
      rollback()
      throw error
    }
    try save()
  }

  // MARK: Events

  private func noteChange() { objects.noteChange() }

  /// Notifies observers, and saves, once the main actor is free.
  func scheduleTurn() {
    let box = WeakContextBox(self)
    Task { @MainActor in box.context?.endTurn() }
  }

  private func endTurn() {
    objects.beginTurn()
    objects.processPendingChanges()
    saveByItself()
  }

  /// Ends a job of an actor.
  func endJob() {
    objects.processPendingChanges()
    saveByItself()
  }

  private func saveByItself() {
    guard autosaveEnabled, hasChanges else { return }
    do {
      try save()
    } catch {
      FileHandle.standardError.write(Data("SwiftData: a context could not save by itself: \(error)\n".utf8))
    }
  }

  /// Whether both are the same context.
  public static func == (left: ModelContext, right: ModelContext) -> Bool { left === right }

  /// The number of changes.
  public var debugDescription: String {
    "ModelContext with \(objects.anyInsertedObjects.count) inserted, \(objects.anyUpdatedObjects.count) changed and \(objects.anyDeletedObjects.count) deleted models"
  }
}

/// A context that the main actor uses.
private struct WeakContextBox: @unchecked Sendable {
  weak var context: ModelContext?
  init(_ context: ModelContext) { self.context = context }
}

@available(
  *, unavailable,
  message: "a context is used where it was made: make another one of its container, or use a model actor"
)
extension ModelContext: Sendable {}
