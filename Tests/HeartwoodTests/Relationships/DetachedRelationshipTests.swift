import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood

private final class Node: ManagedObject {
  @Attribute var number: Int64 = 0
  @Relationship(inverse: { $0.parent }) var children: [Node]
  @Relationship(inverse: { $0.children }) var parent: Node?
  @Relationship(inverse: { $0.friends }) var friends: Set<Node>
  @Relationship(inverse: { $0.previous }) var next: Node?
  @Relationship(inverse: { $0.next }) var previous: Node?
  @Relationship var favourites: Set<Node>
  @Relationship var best: Node?
}

/// Objects with relationships that no context has yet.
@Suite struct `Relationships of objects without a context` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(
      name: "Nodes", types: [Node.self], at: URL(fileURLWithPath: "/dev/null"))
    context = container.newBackgroundContext()
  }

  private func make(_ number: Int) throws -> Node {
    let entity = try #require(container.managedObjectModel.entitiesByName["Node"])
    let node = Node(entity: entity, insertInto: nil)
    node.number = Int64(number)
    return node
  }

  /// The relationships by the numbers of the objects; without the order of those that have none.
  private func picture(_ nodes: [Node]) -> [String] {
    func numbers(_ nodes: some Sequence<Node>) -> [Int64] { nodes.map(\.number) }
    return nodes.map { node in
      let ones = [node.parent, node.next, node.previous, node.best].map { $0.map { "\($0.number)" } ?? "-" }
      let many = [numbers(node.children), numbers(node.friends).sorted(), numbers(node.favourites).sorted()]
      let counts = [node.$children.count, node.$friends.count, node.$favourites.count]
      return "\(node.number) \(ones) \(many) \(counts) \(numbers(node.$children)) \(node.$friends.isEmpty)"
    }
  }

  /// Changes a relationship of one of the objects, the same with the same numbers.
  private func change(_ nodes: [Node], _ random: inout SplitMix64) {
    let (node, other) = (random.pick(nodes), random.pick(nodes))
    switch random.below(13) {
    case 0: node.parent = other
    case 1: node.parent = nil
    case 2:
      if !node.children.contains(other) {
        node.children.insert(other, at: random.below(node.children.count + 1))
      }
    case 3:
      node.children = (0..<random.below(4)).reduce(into: []) { list, _ in
        let one = random.pick(nodes)
        if !list.contains(one) { list.append(one) }
      }
    case 4: if node.friends.remove(other) == nil { node.friends.insert(other) }
    case 5: node.$friends.remove(other)
    case 6: node.next = other
    case 7: node.previous = random.below(2) == 0 ? nil : other
    case 8: node.favourites.insert(other)
    case 9: node.$favourites.removeAll()
    case 10: node.setValue(other, forKey: "best")
    case 11: node.setValue([other], forKey: "favourites")
    default:
      node.$children.insert(other, at: 0)
      if let last = node.$children.firstIndex(of: other), last > 0 { node.$children.remove(at: last) }
    }
  }

  @Test(arguments: 1...40) func `they change as those of inserted objects, and are inserted as they are`(
    seed: UInt64
  ) throws {
    print("random seed \(seed)")
    var (random, same) = (SplitMix64(seed: seed), SplitMix64(seed: seed))
    let loose = try (0..<6).map(make)
    let other = container.newBackgroundContext()
    let known = try (0..<6).map(make)
    known.forEach(other.insert)
    for step in 0..<30 {
      change(loose, &random)
      change(known, &same)
      #expect(picture(loose) == picture(known), "seed \(seed), step \(step)")
      #expect(loose.allSatisfy { $0.managedObjectContext == nil && !$0.isInserted })
    }
    let wanted = picture(loose)
    for node in loose where node.managedObjectContext == nil { context.insert(node) }
    #expect(picture(loose) == wanted, "seed \(seed)")
    #expect(context.insertedObjects.count == loose.count)
    try context.save()
    let reader = container.newBackgroundContext()
    let fetched = try reader.fetch(Node.self).sorted { $0.number < $1.number }
    #expect(picture(fetched) == wanted, "seed \(seed)")
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
  }

  @Test func `an object takes all that it is related to into its context, and nothing else`() throws {
    let nodes = try (0..<5).map(make)
    nodes[0].children = [nodes[1]]
    nodes[1].best = nodes[2]
    nodes[3].best = nodes[0]
    context.insert(nodes[0])
    #expect(context.insertedObjects == [nodes[0], nodes[1], nodes[2]])
    #expect(nodes[3].managedObjectContext == nil && nodes[3].best === nodes[0])
    // It refers to an object that has a context now.
    context.insert(nodes[3])
    #expect(nodes[3].best === nodes[0])
    try context.save()
    #expect(try container.newBackgroundContext().count(Node.self) == 4)
  }

  @Test(arguments: 0..<6) func `an object that is related to one of a context is inserted there`(way: Int)
    throws
  {
    let (known, new, third) = (Node(context: context), try make(1), try make(2))
    third.parent = new
    switch way {
    case 0: known.children = [new]
    case 1: new.parent = known
    case 2: known.$friends.insert(new)
    case 3: new.friends.insert(known)
    case 4: known.setValue(new, forKey: "best")
    default: new.setValue([known], forKey: "favourites")
    }
    #expect(new.managedObjectContext === context && third.managedObjectContext === context)
    #expect(new.children == [third])
    try context.save()
    #expect(try container.newBackgroundContext().count(Node.self) == 3)
  }

  @Test func `an object that was deleted is not brought back by a relationship`() throws {
    let (known, gone) = (Node(context: context), Node(context: context))
    try context.save()
    context.delete(gone)
    try context.save()
    let error = heartwoodError { () throws(HeartwoodError) in try known.assign(gone, forKey: "best") }
    #expect(error?.code == .managedObjectValidation)
    #expect(known.best == nil && gone.managedObjectContext == nil)
  }

  @Test func `many objects are related without a context in linear time`() throws {
    let parent = try make(0)
    for number in 1...20_000 { try make(number).parent = parent }
    #expect(parent.$children.count == 20_000)
    context.insert(parent)
    #expect(context.insertedObjects.count == 20_001 && parent.children.last?.number == 20_000)
  }
}
