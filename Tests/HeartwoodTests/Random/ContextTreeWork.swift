import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import Testing

/// Random work on a tree of contexts, in bursts of one context each.
struct ContextTreeWork {
  let seed: UInt64
  var random: SplitMix64
  let open: () throws -> PersistentContainer
  var tree: ContextTree
  var nextNumber = 0
  /// The steps so far, to print when a comparison fails.
  var log: [String] = []

  init(seed: UInt64, opening open: @escaping () throws -> PersistentContainer) throws {
    self.seed = seed
    self.open = open
    random = SplitMix64(seed: seed)
    tree = ContextTree(try open(), stored: GraphFacts(), random: &random)
  }

  mutating func run(bursts: Int) throws {
    for number in 0..<bursts {
      try burst(number)
      if number % 25 == 24 { try reopen() }
    }
    try reopen()
  }

  /// Some steps in one context, after it has caught up with its parents.
  private mutating func burst(_ number: Int) throws {
    let index = Int.random(in: tree.nodes.indices, using: &random)
    let node = tree.nodes[index]
    catchUp(index)
    log.append("burst \(number), context \(index), \(node.following)")
    for step in 0..<Int.random(in: 1...6, using: &random) {
      if Int.random(in: 0..<20, using: &random) == 0 {
        takeBack(index)
      } else {
        try node.context.performAndWait { try self.step(index) }
      }
      try compare(index, "burst \(number), step \(step)")
    }
    node.context.performAndWait {
      node.held = node.context.registeredObjects.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    }
  }

  /// Parents before children; then undo begins from here.
  private func catchUp(_ index: Int) {
    let path = sequence(first: index) { tree.nodes[$0].parent }.reversed()
    for index in path { tree.nodes[index].context.performAndWait { tree.catchUp(index) } }
    let node = tree.nodes[index]
    node.context.performAndWait {
      node.context.processPendingChanges()
      node.stack.removeAllActions()
    }
    (node.states, node.place) = ([tree.shown(index)], 0)
  }

  private mutating func step(_ index: Int) throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<11:
      for _ in 0..<Int.random(in: 1...3, using: &random) { try edit(index) }
    case 11, 12: try changeDeleting(index)
    case 13, 14: undo(index)
    case 15: redo(index)
    case 16, 17: try look(index)
    default: try save(index)
    }
  }

  // MARK: Whole contexts

  /// Ends an event and its group, and records the state that it has led to.
  func endGroup(_ index: Int, _ before: Int) {
    let node = tree.nodes[index]
    node.context.processPendingChanges()
    node.stack.endUndoGrouping()
    guard node.stack.undoCount > before else { return }
    node.states.removeSubrange((node.place + 1)...)
    node.states.append(tree.shown(index))
    node.place += 1
  }

  private mutating func undo(_ index: Int) {
    let node = tree.nodes[index]
    guard node.place > 0, node.stack.canUndo else { return }
    log.append("undo")
    node.context.undo()
    node.place -= 1
    node.layer = node.states[node.place].differences(from: tree.base(of: index))
  }

  private mutating func redo(_ index: Int) {
    let node = tree.nodes[index]
    guard node.place + 1 < node.states.count, node.stack.canRedo else { return }
    log.append("redo")
    node.context.redo()
    node.place += 1
    node.layer = node.states[node.place].differences(from: tree.base(of: index))
  }

  /// Takes back all changes of a context, of its descendants first: they may have changed what it has inserted. Not on the queue
  /// of the context, as a parent must not wait for its children.
  private mutating func takeBack(_ index: Int) {
    let resets = Bool.random(using: &random)
    log.append(resets ? "reset" : "rollback")
    for other in tree.subtree(index) {
      let node = tree.nodes[other]
      node.context.performAndWait { resets ? node.context.reset() : node.context.rollback() }
      node.layer = GraphFacts()
      (node.states, node.place) = ([tree.shown(other)], 0)
      if resets { node.held = [] }
    }
  }

  private mutating func save(_ index: Int) throws {
    log.append("save")
    let node = tree.nodes[index]
    do {
      try node.context.save()
    } catch let error as HeartwoodError where node.mayConflict && error.code == .managedObjectMerge {
      // Changes merged by themselves and edits made here differ: refreshing decides for the edits.
      log.append("conflict")
      node.context.refreshAllObjects()
      try node.context.save()
    }
    node.mayConflict = false
    if let parent = node.parent {
      let shown = tree.shown(index)
      let above = tree.nodes[parent]
      node.showedStored = false
      above.layer = shown.differences(from: tree.base(of: parent))
      above.context.performAndWait { above.stack.removeAllActions() }
      (above.states, above.place) = ([tree.shown(parent)], 0)
    } else {
      tree.stored = tree.shown(index)
      try compare(
        tree.container.newBackgroundContext(), tree.stored, "the store after a save of context \(index)")
    }
    node.layer = GraphFacts()
    node.base = tree.base(of: index)
  }

  private mutating func reopen() throws {
    for index in tree.nodes.indices.reversed() {
      catchUp(index)
      try tree.nodes[index].context.performAndWait { try save(index) }
    }
    let findings = try tree.container.persistentStoreCoordinator.verify().findings
    if !findings.isEmpty { throw Disagreement(what: "\(findings)") }
    try tree.container.close()
    log = ["reopened"]
    tree = ContextTree(try open(), stored: tree.stored, random: &random)
    for index in tree.nodes.indices {
      tree.nodes[index].base = tree.stored
      try compare(index, "after opening")
    }
  }

  // MARK: Comparing

  var history: String { log.suffix(80).joined(separator: "\n") }

  private func compare(_ index: Int, _ place: String) throws {
    let context = tree.nodes[index].context
    try context.performAndWait { try compare(context, tree.shown(index), "context \(index), \(place)") }
  }

  private func compare(_ context: ManagedObjectContext, _ facts: GraphFacts, _ place: String) throws {
    do {
      let (read, expected) = (try PlainCompanies(readingFrom: context), PlainCompanies(facts))
      if read != expected { throw Disagreement(what: read.differences(from: expected)) }
    } catch let error as Disagreement {
      throw Disagreement(what: "\(place): \(error.what)")
    }
  }

  /// Fetches by conditions.
  private mutating func look(_ index: Int) throws {
    let context = tree.nodes[index].context
    let expected = PlainCompanies(tree.shown(index))
    let age = Int64.random(in: 0..<60, using: &random)
    let old = expected.people.filter { $0.value.age >= age }.keys.sorted()
    let found = try context.fetch(Person.self, where: { $0.age >= age }).map { try $0.name.number }.sorted()
    let count = try context.count(Person.self, where: { $0.age >= age })
    if found != old || count != old.count {
      throw Disagreement(what: "context \(index), age \(age): \(found) and \(count), not \(old)")
    }
    guard let company = expected.companies.keys.sorted().randomElement(using: &random) else { return }
    let staff = expected.people.filter { $0.value.company == company }.count
    let counted = try context.count(Person.self, where: { $0.company.code == "C\(company)" })
    if counted != staff {
      throw Disagreement(what: "context \(index), staff of \(company): \(counted), not \(staff)")
    }
    let friends = expected.companies.filter { $0.value.partners.contains(company) }.keys.sorted()
    let partners = try context.fetch(
      Company.self, where: { $0.partners.contains { $0.code == "C\(company)" } }
    ).map { try $0.name.number }.sorted()
    if partners != friends {
      throw Disagreement(what: "context \(index), partners of \(company): \(partners), not \(friends)")
    }
  }
}
