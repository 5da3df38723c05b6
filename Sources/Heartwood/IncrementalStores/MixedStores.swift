import HeartwoodBytes

/// A store that asks a class of the program, as one of several.
protocol AskedStore: ContextStore, ObjectUses {
  var countsUses: Bool { get }
  /// The newest generation, as a context reads it on its queue; nil for reads of others.
  func memberView(readBy context: ManagedObjectContext?) -> any MemberView
  /// Gives the objects of a save the derived values that depend on their own row; whether there are such attributes.
  func deriveOwnValues(of plan: SavePlan, _ context: ManagedObjectContext) throws -> Bool
  /// The part of a save that is this store's.
  func save(
    _ plan: SavePlan, of context: ManagedObjectContext, _ info: TransactionInfo, _ number: MemberNumber
  ) throws -> IncrementalSave
}

/// The several stores of a coordinator as one, of which some are incremental and others may be on the engine.
///
/// A row has the key that it has in its store, with the number of the store in the upper bits (see `StoreNumbers`). The classes of incremental
/// stores get identifiers with the number or without: both are equal.
final class MixedStores: ContextStore, ObjectUses {
  private struct Asked {
    let contents: any AskedStore
    let number: MemberNumber
  }

  let members: [StoreMember]
  private let logs: StoreUnion
  private let asked: [Asked]
  private let askedNumbers: Set<Int>

  init(_ members: [StoreMember], _ numbers: StoreNumbers, _ model: ManagedObjectModel) {
    self.members = members
    let logs = StoreUnion(members, numbers, model)
    self.logs = logs
    asked = members.compactMap { member in
      (member.store as? any AskedStore).map {
        Asked(contents: $0, number: MemberNumber(number: member.number, references: logs.references))
      }
    }
    askedNumbers = Set(asked.map(\.number.number))
  }

  var identity: StoreIdentity { logs.identity }
  var newestGeneration: UInt64 { members.reduce(0) { $0 &+ $1.store.newestGeneration } }

  /// - Throws: If one of the stores cannot; of past generations, which contexts read of the stores that have them, if none can.
  func require(_ feature: StoreFeature) throws(HeartwoodError) {
    let concerned = feature == .generations && !logs.members.isEmpty ? logs.members : members
    for member in concerned { try member.store.require(feature) }
  }

  func savePendingMetadata() throws { for member in members { try member.store.savePendingMetadata() } }

  // MARK: Reading

  func view() throws -> any StoreView { try view(readBy: nil) }
  func view(for context: ManagedObjectContext) throws -> any StoreView { try view(readBy: context) }

  private func view(readBy context: ManagedObjectContext?) throws -> any StoreView {
    view(try logs.newestViews(), context)
  }

  /// Views of the stores on the engine, with the newest of the others.
  private func view(_ views: [StoreUnionView.Member], _ context: ManagedObjectContext?) -> StoreUnionView {
    let others = asked.map {
      StoreUnionView.Member(number: $0.number.number, view: $0.contents.memberView(readBy: context))
    }
    return StoreUnionView(views + others, logs.references)
  }

  func view(pinnedTo pinned: any StoreView, for context: ManagedObjectContext) throws -> any StoreView {
    // A context that is pinned drops its view when the coordinator's stores become other ones.
    guard let pinned = pinned as? StoreUnionView else {
      programError("the view of a context of several stores is one of several stores")
    }
    let newest = view(pinned.ofPast, context)
    if let held = context.view.held, held.generation == newest.generation { return held }
    context.view.held = newest
    return newest
  }

  /// - Throws: As for the stores on the engine; generations of incremental stores, which have no past ones, are passed over.
  func view(at generations: StoreGenerations) throws -> any StoreView {
    try require(.generations)
    let past = generations.members.filter { member in
      !asked.contains { $0.contents.identity == member.store }
    }
    return try logs.view(at: StoreGenerations(past))
  }

  func makeUsedObjects() -> UsedObjects? {
    asked.contains { $0.contents.countsUses } ? UsedObjects(self) : nil
  }

  func begin(using objects: [ManagedObjectID]) {
    forEachUse(objects) { $0.begin(using: $1) }
  }

  func end(using objects: [ManagedObjectID]) {
    forEachUse(objects) { $0.end(using: $1) }
  }

  private func forEachUse(_ objects: [ManagedObjectID], _ body: (any AskedStore, [ManagedObjectID]) -> Void) {
    for one in asked where one.contents.countsUses {
      let own = objects.filter { $0.store == one.contents.identity }
      if !own.isEmpty { body(one.contents, own) }
    }
  }

  // MARK: Saving

  func reserveIdentifiers(
    for objects: [ManagedObject], of context: ManagedObjectContext
  ) throws -> [ManagedObjectID] {
    let choice = try choice(for: objects + Array(context.changes.inserted), of: context)
    return try reserveIdentifiers(for: objects, of: context, choice)
  }

  private func reserveIdentifiers(
    for objects: [ManagedObject], of context: ManagedObjectContext, _ choice: StoreChoice?
  ) throws -> [ManagedObjectID] {
    var made: [ObjectIdentifier: ManagedObjectID] = [:]
    var rest = objects
    for one in asked {
      let own = rest.filter { choice?.number(of: $0) == one.number.number }
      guard !own.isEmpty else { continue }
      rest.removeAll { choice?.number(of: $0) == one.number.number }
      for (object, id) in zip(own, try one.contents.reserveIdentifiers(for: own, of: context)) {
        made[ObjectIdentifier(object)] = one.number.identifier(id)
      }
    }
    for (object, id) in zip(rest, try logs.reserveIdentifiers(for: rest, of: context, choice)) {
      made[ObjectIdentifier(object)] = id
    }
    return objects.compactMap { made[ObjectIdentifier($0)] }
  }

  /// Gives new objects of incremental stores their identifiers, after a check that the stores of all objects can have them.
  func plan(of context: ManagedObjectContext) throws -> SavePlan {
    var plan = SavePlan(context)
    let choice = try StoreChoice(plan, in: self, context)
    let new = plan.inserted.filter {
      $0.identifier.isTemporaryID && askedNumbers.contains(choice.number(of: $0))
    }
    if !new.isEmpty {
      context.assign(try reserveIdentifiers(for: new, of: context, choice), to: new)
      plan = SavePlan(context)
    }
    var isDerived = false
    for one in asked {
      let part = SavePlan(plan) { choice.number(of: $0) == one.number.number }
      if try !part.isEmpty && one.contents.deriveOwnValues(of: part, context) { isDerived = true }
    }
    return isDerived ? SavePlan(context) : plan
  }

  /// The stores on the engine are written and checked, then the classes of the others write, then the former commit: if a class refuses
  /// its part, no store has anything of the save, unless another class has written before.
  func save(
    _ plan: SavePlan, of context: ManagedObjectContext, _ info: TransactionInfo
  ) throws -> (SaveOutcome, newest: StoreGenerations) {
    let choice = try StoreChoice(plan, in: self, context)
    let touched = choice.touched(by: plan).union(members(of: info.consumers))
    var outcome = SaveOutcome()
    var requests: [SaveRequest] = []
    do {
      for one in asked where touched.contains(one.number.number) {
        let part = SavePlan(plan) { choice.number(of: $0) == one.number.number }
        let save = try one.contents.save(part, of: context, info, one.number)
        try save.check()
        requests.append(
          SaveRequest(number: one.number.number, store: one.contents.identity) {
            let (made, generation) = try save.execute()
            outcome.rows += made.rows
            outcome.derived += made.derived
            return generation
          })
      }
      let own = SavePlan(plan) { !askedNumbers.contains(choice.number(of: $0)) }
      let (_, saved) = try logs.commit(info, to: touched, requests) {
        outcome = try own.write(to: $0, choice)
      }
      context.persistentStoreCoordinator?.noteOwnSave(saved.written)
      return (outcome, saved.newest)
    } catch {
      throw reported(error, plan, outcome, choice, touched, context)
    }
  }

  func save(_ steps: [ConsumerStep]) throws {
    for one in asked {
      let own = steps.of(one.contents.identity)
      if !own.isEmpty { try one.contents.save(own) }
    }
    try logs.save(steps)
  }

  // MARK: Requests

  func execute(
    _ request: PersistentStoreRequest, in numbers: Set<Int>?, for context: ManagedObjectContext?
  ) throws -> [Any]? {
    let executing = asked.filter { numbers?.contains($0.number.number) ?? true }
    guard !executing.isEmpty else { return nil }
    return try executing.flatMap { try $0.contents.execute(request, in: nil, for: context) ?? [] }
  }
}

extension [ConsumerStep] {
  /// Those of the consumers of one store.
  func of(_ store: StoreIdentity) -> [ConsumerStep] { filter { $0.storeID == store.text } }
}
