/// The dependencies between transactions, and the cycles in them.
struct DependencyGraph {
  enum Kind: Int, Sendable {
    /// The second transaction wrote after the first.
    case write
    /// The second transaction read a write of the first.
    case read
    /// The second transaction overwrote what the first one read: an anti-dependency.
    case missed
    /// The second transaction began after the end of the first one, in the same session.
    case session
  }

  struct Edge: Hashable, Sendable {
    let to: Int
    let kind: Kind
    let key: Int
  }

  private(set) var edges: [[Edge]]

  init(count: Int) { edges = Array(repeating: [], count: count) }

  mutating func add(_ from: Int, _ to: Int, _ kind: Kind, key: Int) {
    let edge = Edge(to: to, kind: kind, key: key)
    if from != to, !edges[from].contains(edge) { edges[from].append(edge) }
  }

  /// For each node, the nodes that ended before it in the same session.
  var sessionPredecessors: [[Int]] {
    var predecessors: [[Int]] = Array(repeating: [], count: edges.count)
    for (node, outgoing) in edges.enumerated() {
      for edge in outgoing where edge.kind == .session { predecessors[edge.to].append(node) }
    }
    return predecessors
  }

  /// The strongly connected components by edges of these kinds, without those of a single node.
  func circles(_ kinds: Set<Kind>) -> [[Int]] {
    StrongComponents.of(edges.map { $0.filter { kinds.contains($0.kind) }.map(\.to) })
  }

  /// The groups of nodes in cycles without two adjacent anti-dependencies.
  func circlesWithoutAdjacentMisses() -> [[Int]] {
    // Each node occurs twice: as itself, and as reached by an anti-dependency, from which no second one leads
    // on.
    var doubled: [[Int]] = Array(repeating: [], count: 2 * edges.count)
    for (node, outgoing) in edges.enumerated() {
      for edge in outgoing {
        if edge.kind == .missed {
          doubled[2 * node].append(2 * edge.to + 1)
        } else {
          doubled[2 * node].append(2 * edge.to)
          doubled[2 * node + 1].append(2 * edge.to)
        }
      }
    }
    return StrongComponents.of(doubled).map { Set($0.map { $0 / 2 }).sorted() }
  }

  /// A shortest path between two nodes within `members`; nil if there is none.
  func way(from start: Int, to goal: Int, by kinds: Set<Kind>, among members: Set<Int>) -> [Edge]? {
    var cameBy: [Int: (from: Int, edge: Edge)] = [:]
    var queue = [start]
    var position = 0
    while position < queue.count {
      let node = queue[position]
      position += 1
      for edge in edges[node] where kinds.contains(edge.kind) && members.contains(edge.to) {
        guard cameBy[edge.to] == nil else { continue }
        cameBy[edge.to] = (node, edge)
        if edge.to == goal { return Self.path(to: goal, from: start, cameBy) }
        queue.append(edge.to)
      }
    }
    return nil
  }

  private static func path(to goal: Int, from start: Int, _ cameBy: [Int: (from: Int, edge: Edge)]) -> [Edge]
  {
    var path: [Edge] = []
    var node = goal
    repeat {
      guard let step = cameBy[node] else { break }
      path.append(step.edge)
      node = step.from
    } while node != start
    return path.reversed()
  }
}
