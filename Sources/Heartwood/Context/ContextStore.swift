/// A store as contexts use it: besides what it shows, how it names new objects, what a save of it is, and which requests are its own.
protocol ContextStore: ObjectStore {
  /// The stores that it is: itself with the number 0, or several as one.
  var members: [StoreMember] { get }

  /// The newest generation, as the context reads it on its queue.
  func view(for context: ManagedObjectContext) throws -> any StoreView

  /// The view that a context reads which is pinned to another one: with the newest of the stores that have no past generations.
  func view(pinnedTo pinned: any StoreView, for context: ManagedObjectContext) throws -> any StoreView

  /// Identifiers for new objects before they are saved, in their order. None is ever given to another object.
  func reserveIdentifiers(
    for objects: [ManagedObject], of context: ManagedObjectContext
  ) throws -> [ManagedObjectID]

  /// The writes that a save of the context would make now. May change the context's objects before.
  func plan(of context: ManagedObjectContext) throws -> SavePlan

  /// Writes a plan as one transaction.
  ///
  /// - Returns: The outcome of the save, and the generations that reads see from now on.
  /// - Throws: `.managedObjectMerge` or `.managedObjectConstraintMerge` with all conflicts, or the error of the store. Nothing is written
  ///   then, except after `.persistentStoreIncompleteSave`.
  func save(
    _ plan: SavePlan, of context: ManagedObjectContext, _ info: TransactionInfo
  ) throws -> (SaveOutcome, newest: StoreGenerations)

  /// Writes positions of consumers of the history in a transaction of their own.
  func save(_ steps: [ConsumerStep]) throws

  /// Executes a request that is the store's own.
  ///
  /// - Parameters:
  ///   - numbers: The numbers of the stores that are to execute it, where there are several; nil for all.
  ///   - context: The context, if this is called on its queue.
  /// - Returns: The result of each store that has executed it; nil if no requests are.
  func execute(
    _ request: PersistentStoreRequest, in numbers: Set<Int>?, for context: ManagedObjectContext?
  ) throws -> [Any]?

  /// Tells the store which of its objects a context uses; nil if it does not ask for that.
  func makeUsedObjects() -> UsedObjects?
}

extension ContextStore {
  /// Whether the versions of a row begin again with each opening, as in stores that are read whole; nil for any row.
  func countsVersionsAnew(_ key: UInt64? = nil) -> Bool {
    members.contains { $0.log?.file != nil && (key == nil || $0.number == key?.storeNumber) }
  }

  func view(for context: ManagedObjectContext) throws -> any StoreView { try view() }
  func view(pinnedTo pinned: any StoreView, for context: ManagedObjectContext) -> any StoreView { pinned }
  func plan(of context: ManagedObjectContext) throws -> SavePlan { SavePlan(context) }
  func execute(
    _ request: PersistentStoreRequest, in numbers: Set<Int>?, for context: ManagedObjectContext?
  ) throws -> [Any]? { nil }
  func makeUsedObjects() -> UsedObjects? { nil }
  func save(_ steps: [ConsumerStep]) throws {}

  /// Which of several stores new objects get; nil where there is one.
  ///
  /// - Throws: As `StoreChoice.init(for:in:_:)`.
  func choice(
    for objects: [ManagedObject], of context: ManagedObjectContext
  ) throws(HeartwoodError) -> StoreChoice? {
    identity.isOfSeveral ? try StoreChoice(for: objects, in: self, context) : nil
  }

  /// The numbers of the stores that execute a request; nil for all.
  ///
  /// - Parameter affected: The stores that the request names; nil for all.
  /// - Throws: `.persistentStoreUnsupportedRequestType` if none of them is among the stores.
  func numbers(of affected: [PersistentStore]?) throws(HeartwoodError) -> Set<Int>? {
    guard let affected else { return nil }
    guard identity.isOfSeveral else {
      guard affected.contains(where: { $0.objectStore === self }) else { throw .noAffectedStore }
      return nil
    }
    let named = members.filter { member in affected.contains { $0.objectStore === member.store } }
    guard !named.isEmpty else { throw .noAffectedStore }
    return named.count == members.count ? nil : Set(named.map(\.number))
  }

  /// Whether the store of a row is open.
  func hasStore(of key: UInt64) -> Bool {
    !identity.isOfSeveral || members.contains { $0.number == key.storeNumber }
  }
}

extension LogStore: ContextStore {
  var members: [StoreMember] {
    [StoreMember(number: 0, store: self, log: self, configuration: .all, isReadOnly: isReadOnly, place: path)]
  }
}

extension StoreUnion: ContextStore {}

/// Stores with transactions of rows.
extension ContextStore where Self: RowStore {
  /// Costs one transaction for each root entity.
  func reserveIdentifiers(
    for objects: [ManagedObject], of context: ManagedObjectContext
  ) throws -> [ManagedObjectID] {
    let choice =
      identity.isOfSeveral ? try choice(for: objects + Array(context.changes.inserted), of: context) : nil
    return try reserveIdentifiers(for: objects, of: context, choice)
  }

  /// - Parameter choice: The stores of the objects, where there are several.
  func reserveIdentifiers(
    for objects: [ManagedObject], of context: ManagedObjectContext, _ choice: StoreChoice?
  ) throws -> [ManagedObjectID] {
    var groups: [KeyGroup: [Int]] = [:]
    for (place, object) in objects.enumerated() {
      let group = KeyGroup(root: object.entity.rootEntity.number, store: choice?.number(of: object) ?? 0)
      groups[group, default: []].append(place)
    }
    let naming = context.persistentStoreCoordinator?.namingStores ?? [:]
    var keys = [UInt64](repeating: 0, count: objects.count)
    for (group, places) in groups.sorted(by: { $0.key < $1.key }) {
      if let store = naming[group.store] {
        for place in places { keys[place] = try store.newKey(for: objects[place], inStore: group.store) }
      } else {
        let first = try reserveKeys(objects[places[0]].entity.rootEntity, places.count, in: group.store)
        for (place, key) in zip(places, first...) { keys[place] = key }
      }
    }
    return zip(objects, keys).map { ManagedObjectID(entity: $0.entity, key: $1, store: identity) }
  }

  /// Conflicts are detected under the writer lock.
  func save(
    _ plan: SavePlan, of context: ManagedObjectContext, _ info: TransactionInfo
  ) throws -> (SaveOutcome, newest: StoreGenerations) {
    let choice = identity.isOfSeveral ? try StoreChoice(plan, in: self, context) : nil
    let touched = (choice?.touched(by: plan) ?? []).union(members(of: info.consumers))
    var outcome = SaveOutcome()
    do {
      let (_, saved) = try commit(info, to: touched) { outcome = try plan.write(to: $0, choice) }
      context.persistentStoreCoordinator?.noteOwnSave(saved.written)
      return (outcome, saved.newest)
    } catch {
      throw reported(error, plan, outcome, choice, touched, context)
    }
  }

  func save(_ steps: [ConsumerStep]) throws {
    var info = TransactionInfo()
    info.consumers = steps
    _ = try commit(info, to: members(of: steps)) { _ in }
  }
}

extension ContextStore {
  /// The error of a save, for an error of its stores. After an incomplete save, the context has what was saved.
  func reported(
    _ error: any Error, _ plan: SavePlan, _ outcome: SaveOutcome, _ choice: StoreChoice?,
    _ touched: Set<Int>, _ context: ManagedObjectContext
  ) -> any Error {
    switch error {
    case let refused as ConstraintViolations:
      HeartwoodError.violations(refused.violations, of: outcome, in: context).affecting(texts(of: touched))
    case let incomplete as IncompleteSave: context.finish(plan, outcome, after: incomplete, choice)
    case let error as HeartwoodError: error.affecting(texts(of: touched))
    default: error
    }
  }

  /// The numbers of the stores of consumers.
  func members(of steps: [ConsumerStep]) -> Set<Int> {
    guard !steps.isEmpty else { return [] }
    let texts = Set(steps.map(\.storeID))
    return Set(members.filter { $0.store.identity.text.map(texts.contains) == true }.map(\.number))
  }

  /// The identifiers of the stores that a save writes to.
  func texts(of numbers: Set<Int>) -> [String] {
    guard let all = identity.numbers else { return identity.text.map { [$0] } ?? [] }
    return numbers.sorted().compactMap { all.store($0).text }
  }
}

extension PersistentStoreCoordinator {
  /// The stores that name new objects themselves, by their numbers.
  var namingStores: [Int: PersistentStore] {
    guard let members = objectStore?.members else { return [:] }
    var stores: [Int: PersistentStore] = [:]
    for store in persistentStores where store.namesObjects {
      guard let member = members.first(where: { $0.log === store.contents }) else { continue }
      stores[member.number] = store
    }
    return stores
  }
}

/// New objects that get consecutive keys.
private struct KeyGroup: Hashable, Comparable {
  let root: UInt16
  let store: Int

  static func < (left: KeyGroup, right: KeyGroup) -> Bool {
    (left.root, left.store) < (right.root, right.store)
  }
}
