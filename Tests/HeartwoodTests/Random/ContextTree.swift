import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults

/// Two root contexts, two children of the first and a grandchild, beside a plain model of what each should show: its parent's
/// facts with its own unsaved ones over them.
struct ContextTree {
  /// How a context learns what others have changed.
  enum Following: CaseIterable {
    case refreshing
    case merging
    case automatic
  }

  final class Node {
    let context: ManagedObjectContext
    let parent: Int?
    let following: Following
    let stack = UndoStack()
    let saves: Heard
    /// The unsaved changes.
    var layer = GraphFacts()
    /// The facts that the parent showed when the context last learned of them.
    var base = GraphFacts()
    /// The states that undo and redo lead to, and the place of the present one.
    var states: [GraphFacts] = []
    var place = 0
    /// How many saves of each context were merged.
    var merged: [Int] = []
    /// Whether others have changed what it has unsaved changes of.
    var mayConflict = false
    /// Whether its parents had no unsaved changes when it last read through them.
    var showedStored = true
    /// Objects that the program references.
    var held: [ManagedObject] = []

    init(_ context: ManagedObjectContext, parent: Int?, _ following: Following) {
      (self.context, self.parent, self.following) = (context, parent, following)
      saves = Heard(context, .managedObjectContextDidSave)
      context.undoManager = stack
      context.automaticallyMergesChangesFromParent = following == .automatic
    }
  }

  let container: PersistentContainer
  var nodes: [Node] = []
  /// The facts of the store.
  var stored: GraphFacts

  init(_ container: PersistentContainer, stored: GraphFacts, random: inout SplitMix64) {
    self.container = container
    self.stored = stored
    for parent in [nil, nil, 0, 0, 2] as [Int?] {
      let context =
        parent.map { ManagedObjectContext(.privateQueue, parent: nodes[$0].context) }
        ?? container.newBackgroundContext()
      let following = Following.allCases.randomElement(using: &random) ?? .refreshing
      nodes.append(Node(context, parent: parent, following))
    }
    for node in nodes { node.merged = nodes.map { _ in 0 } }
  }

  /// The facts that a context's parent shows, or the store.
  func base(of index: Int) -> GraphFacts { nodes[index].parent.map(shown) ?? stored }

  /// The facts that a context should show.
  func shown(_ index: Int) -> GraphFacts { base(of: index).with(nodes[index].layer) }

  func isAncestor(_ index: Int, of other: Int) -> Bool {
    var next = nodes[other].parent
    while let parent = next {
      if parent == index { return true }
      next = nodes[parent].parent
    }
    return false
  }

  /// A context and its descendants, deepest first.
  func subtree(_ index: Int) -> [Int] {
    nodes.indices.reversed().filter { $0 == index || isAncestor(index, of: $0) }
  }

  /// Contexts whose unsaved changes must not meet those of another: all but its ancestors and itself.
  func strangers(of index: Int) -> [Node] {
    nodes.indices.filter { $0 != index && !isAncestor($0, of: index) }.map { nodes[$0] }
  }

  /// Whether what a context saves is at once what another one reads.
  private func reaches(_ source: Int, _ index: Int) -> Bool {
    guard source != index else { return false }
    return nodes[source].parent.map { isAncestor($0, of: index) } ?? true
  }

  /// Brings a context up to date with what its parent shows.
  func catchUp(_ index: Int) {
    let node = nodes[index]
    let base = base(of: index)
    // Unsaved changes of parents, and those that they have taken back, show after a refresh only.
    let showsStored = nodes.indices.allSatisfy {
      !isAncestor($0, of: index) || nodes[$0].layer.values.isEmpty
    }
    let onlySaves = showsStored && node.showedStored
    node.showedStored = showsStored
    if node.following == .merging, onlySaves {
      for (other, source) in nodes.enumerated() where reaches(other, index) {
        for notification in source.saves.notifications.dropFirst(node.merged[other]) {
          node.context.mergeChanges(fromContextDidSave: notification)
        }
      }
    } else if node.following != .automatic || !onlySaves || base != node.base {
      node.context.refreshAllObjects()
    }
    node.merged = nodes.map(\.saves.notifications.count)
    if base != node.base {
      let changed = base.differences(from: node.base)
      if changed.values.contains(where: { node.layer[$0.key] != nil && node.layer[$0.key] != $0.value }) {
        node.mayConflict = true
      }
      node.layer = base.with(node.layer).differences(from: base)
      node.base = base
    }
  }
}
