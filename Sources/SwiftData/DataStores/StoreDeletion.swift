import Foundation
import Heartwood
import Observation

/// The deletions by a condition that wait for the next save of a context. Reads are observed.
final class WaitingDeletions: Observable {
  private let registrar = ObservationRegistrar()
  private var kept: [StoreDeletion] = []

  var all: [StoreDeletion] {
    get {
      registrar.access(self, keyPath: \.all)
      return kept
    }
    set {
      guard !kept.isEmpty || !newValue.isEmpty else { return }
      registrar.withMutation(of: self, keyPath: \.all) { kept = newValue }
    }
  }
}

/// A deletion by a condition that waits for the next save, for a custom store that executes such itself.
struct StoreDeletion {
  /// The names of the entities that it may concern.
  let entityNames: Set<String>
  /// Whether a model satisfies the condition.
  private let concerns: (any PersistentModel) -> Bool
  /// Asks the stores to delete. False if one of them cannot: the models are deleted one by one then.
  private let run: (ModelContext) throws -> Bool
  private let deleteOneByOne: (ModelContext) throws -> Void

  /// Notes a deletion, if all stores that have the class execute such themselves.
  ///
  /// - Returns: False if the context deletes the models one by one.
  static func note<Model: PersistentModel>(
    _ type: Model.Type, _ predicate: Predicate<Model>?, _ includeSubclasses: Bool, in context: ModelContext
  ) throws -> Bool {
    let stores = context.contents.stores
    let serving = stores.bridged.filter { $0.has(ModelClass.of(type).name) }
    // With others beside them, a deletion is that of the context.
    guard stores.bridged.count == stores.all.count, !serving.isEmpty,
      serving.allSatisfy({ $0.program is any DataStoreBatching })
    else { return false }
    let names = includeSubclasses ? ModelClass.names(of: type, in: context.contents.schema) : []
    let deletion = StoreDeletion(
      entityNames: Set(names + [ModelClass.of(type).name]),
      concerns: { model in
        guard let own = model as? Model, includeSubclasses || Swift.type(of: own) == type else {
          return false
        }
        return (try? predicate?.evaluate(own)) ?? (predicate == nil)
      },
      run: { context in
        let request = DataStoreBatchDeleteRequest<Model>(
          predicate: predicate, editingState: context.editingState, includeSubclasses: includeSubclasses)
        do {
          for store in serving { try (store.program as? any DataStoreBatching)?.delete(request) }
          return true
        } catch let error as DataStoreError {
          switch error {
          case .unsupportedFeature, .preferInMemoryFilter: return false
          case .preferInMemorySort, .invalidPredicate: throw error
          }
        }
      },
      deleteOneByOne: { context in
        // Of what is stored, as a store deletes.
        var stored = FetchDescriptor<Model>(predicate: predicate)
        stored.includePendingChanges = false
        for model in try context.fetch(stored)
        where includeSubclasses || Swift.type(of: model) == type {
          context.delete(model)
        }
      })
    // Models that were never saved are none of the store.
    for model in context.insertedModelsArray where deletion.concerns(model) { deletion.drop(model, context) }
    context.objects.deletions.append(deletion)
    return true
  }

  private func drop(_ model: some PersistentModel, _ context: ModelContext) { context.delete(model) }

  /// Whether fetches of a class must leave out models that wait for their deletion.
  static func hides(_ type: any PersistentModel.Type, in objects: ModelObjectContext) -> Bool {
    guard !objects.deletions.isEmpty else { return false }
    let names = Set(ModelClass.names(of: type, in: objects.container.schema))
    return objects.deletions.contains { !$0.entityNames.isDisjoint(with: names) }
  }

  /// Those of fetched models that the next save does not delete by a condition.
  static func staying<Model: PersistentModel>(_ models: [Model], in context: ModelContext) throws -> [Model] {
    let stored = StoredModels(context)
    return models.filter { model in !context.objects.deletions.contains { $0.willDelete(model, stored) } }
  }

  /// Whether the store will delete a model: it deletes by what is stored, before it saves what has changed.
  private func willDelete(_ model: any PersistentModel, _ stored: StoredModels) -> Bool {
    guard let known = stored.model(model) else { return false }
    return concerns(known)
  }

  /// Executes the deletions of a context, before its other changes are saved.
  ///
  /// - Throws: The error of a store; the deletions that were not executed stay.
  static func execute(in context: ModelContext) throws {
    while let deletion = context.objects.deletions.first {
      // The models of the context that the store is about to delete, with their values.
      let stored = StoredModels(context)
      let gone = context.objects.objectsInMemory.filter { object in
        object.model.map { deletion.willDelete($0, stored) } ?? false
      }
      context.objects.deletions.removeFirst()
      do {
        guard try deletion.run(context) else {
          try deletion.deleteOneByOne(context)
          continue
        }
      } catch {
        context.objects.deletions.insert(deletion, at: 0)
        throw error
      }
      for other in context.contents.stores.contexts { other.snapshots.remove(of: deletion.entityNames) }
      let identifiers = gone.map(\.persistentIdentifier)
      for store in context.contents.bridged { store.noteDeleted(identifiers) }
      for object in gone { context.objects.detachDeleted(object) }
      // Others may lead to what is gone.
      context.objects.refreshAllObjects()
    }
  }
}

/// The models of a context as they are stored.
private final class StoredModels {
  private let context: ModelContext
  /// A context without changes.
  private lazy var reader = ModelContext(context.container)

  init(_ context: ModelContext) { self.context = context }

  /// A model with the values that are stored; nil if it was never saved.
  func model(_ model: any PersistentModel) -> (any PersistentModel)? {
    guard let object = model._$storage.object, !object.objectID.isTemporaryID else { return nil }
    return object.hasChanges ? reader.model(for: object.persistentIdentifier) : model
  }
}

extension ModelObjectContext {
  /// The objects of the stores that are in memory.
  var objectsInMemory: [_ModelObject] {
    anyObjectsInMemory.compactMap { $0 as? _ModelObject }.filter { !$0.objectID.isTemporaryID }
  }

  /// Makes the models of an object that its store has deleted ones without a context.
  func detachDeleted(_ object: _ModelObject) {
    ModelValues.detachModels(of: object)
    refresh(object, mergeChanges: false)
  }
}
