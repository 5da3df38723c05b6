/// Classifies the dependency cycles among transactions.
struct CircleSearch {
  private let graph: DependencyGraph
  private let transactions: [History.Transaction]
  private(set) var findings: [IsolationFinding] = []
  /// The transactions in a cycle that is already classified.
  private var named: Set<Int> = []

  init(graph: DependencyGraph, transactions: [History.Transaction]) {
    self.graph = graph
    self.transactions = transactions
  }

  /// Searches the anomalies from the most severe one. Skips transactions in a cycle that is already
  /// classified.
  mutating func run() {
    let all = graph.circles([.write, .read, .missed, .session])
    guard !all.isEmpty else { return }
    name(graph.circles([.write]), .dirtyWrite, by: [.write])
    name(graph.circles([.write, .read]), .circularInformation, by: [.write, .read])
    name(graph.circles(Self.order), .sessionGoesBack, by: Self.order)
    nameSingleMisses(Set(all.joined()))
    name(
      graph.circlesWithoutAdjacentMisses(), .longFork, by: [.write, .read, .missed, .session])
    name(
      graph.circles([.write, .read, .missed]), .writeSkew, by: [.write, .read, .missed])
    name(all, .writeSkew, by: [.write, .read, .missed, .session])
  }

  private mutating func name(_ circles: [[Int]], _ anomaly: Anomaly, by kinds: Set<DependencyGraph.Kind>) {
    for circle in circles where named.isDisjoint(with: circle) {
      let members = Set(circle)
      let way = graph.way(from: circle[0], to: circle[0], by: kinds, among: members) ?? []
      report(anomaly, from: circle[0], way)
      named.formUnion(circle)
    }
  }

  /// Finds cycles with one anti-dependency: a transaction saw only a part of another one, or less than the
  /// previous transaction of its session.
  private mutating func nameSingleMisses(_ members: Set<Int>) {
    let data = Reachability(graph.edges, by: [.write, .read])
    let all = Reachability(graph.edges, by: Self.order)
    let before = graph.sessionPredecessors
    for node in members.sorted() where !named.contains(node) {
      for edge in graph.edges[node] where edge.kind == .missed && members.contains(edge.to) {
        if let former = before[node].first(where: { edge.to == $0 || all.leads(from: edge.to, to: $0) }) {
          let way = graph.way(from: edge.to, to: former, by: Self.order, among: members) ?? []
          report(.sessionGoesBack, from: node, [edge] + way)
          named.insert(node)
        }
        let kinds: Set<DependencyGraph.Kind> =
          data.leads(from: edge.to, to: node) ? [.write, .read] : Self.order
        guard all.leads(from: edge.to, to: node) else { continue }
        let way = graph.way(from: edge.to, to: node, by: kinds, among: members) ?? []
        if way.last?.kind == .session, kinds == Self.order { continue }
        report(.readSkew, from: node, [edge] + way)
        named.insert(node)
      }
    }
  }

  private static let order: Set<DependencyGraph.Kind> = [.write, .read, .session]

  private mutating func report(_ anomaly: Anomaly, from start: Int, _ way: [DependencyGraph.Edge]) {
    let steps = way.map { edge in " -\(edge.kind) \(edge.key)-> \(transactions[edge.to].id)" }
    let nodes = Set([start] + way.map(\.to)).sorted().map { "\n    \(transactions[$0])" }
    findings.append(
      IsolationFinding(
        anomaly: anomaly,
        text: "\(transactions[start].id)" + steps.joined() + nodes.prefix(8).joined()))
  }
}
