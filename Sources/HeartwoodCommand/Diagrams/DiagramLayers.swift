/// The layers of a drawing, from the top: every line leads from one layer to a lower one.
///
/// The method is that of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures" (1981):
/// cycles are broken, nodes are assigned to layers, lines over several layers get a bend in each, and each layer is ordered by the
/// mean place of the neighbours.
struct DiagramLayers {
  /// A node of a layer.
  enum Node: Hashable {
    case entity(Int)
    /// Where a line passes the layer.
    case bend(line: Int, layer: Int)
  }

  private(set) var layers: [[Node]] = []
  /// For each line, its nodes from the top to the bottom. A line from an entity to itself has only one.
  private(set) var paths: [[Node]] = []

  /// - Parameters:
  ///   - count: The number of entities.
  ///   - lines: The upper and the lower entity of each line.
  ///   - width: The maximum number of entities in a layer, 1 or more.
  init(count: Int, lines: [(upper: Int, lower: Int)], width: Int) {
    let directed = Self.acyclic(count, lines)
    let layerOf = Self.assigned(count, directed, width)
    layers = [[Node]](repeating: [], count: (layerOf.max() ?? -1) + 1)
    for entity in 0..<count { layers[layerOf[entity]].append(.entity(entity)) }
    for (number, line) in directed.enumerated() {
      guard line.upper != line.lower else {
        paths.append([.entity(line.upper)])
        continue
      }
      let bends = (layerOf[line.upper] + 1..<layerOf[line.lower]).map { Node.bend(line: number, layer: $0) }
      for bend in bends { if case .bend(_, let layer) = bend { layers[layer].append(bend) } }
      paths.append([.entity(line.upper)] + bends + [.entity(line.lower)])
    }
    order()
  }

  /// The lines, of which those that would close a cycle are turned round.
  private static func acyclic(
    _ count: Int, _ lines: [(upper: Int, lower: Int)]
  ) -> [(upper: Int, lower: Int)] {
    var outgoing = [[Int]](repeating: [], count: count)
    for (number, line) in lines.enumerated() { outgoing[line.upper].append(number) }
    enum Visit { case never, onPath, done }
    var visits = [Visit](repeating: .never, count: count)
    var turned = lines
    for start in 0..<count where visits[start] == .never {
      var path = [(entity: start, next: 0)]
      visits[start] = .onPath
      while let (entity, next) = path.last {
        guard next < outgoing[entity].count else {
          visits[entity] = .done
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let number = outgoing[entity][next]
        let lower = lines[number].lower
        switch visits[lower] {
        case .never:
          visits[lower] = .onPath
          path.append((lower, 0))
        case .onPath: turned[number] = (lower, entity)
        case .done: break
        }
      }
    }
    return turned
  }

  /// The layer of each entity: below all that are above it, and where there is room.
  private static func assigned(_ count: Int, _ lines: [(upper: Int, lower: Int)], _ width: Int) -> [Int] {
    var waiting = [Int](repeating: 0, count: count)
    var below = [[Int]](repeating: [], count: count)
    for line in lines where line.upper != line.lower {
      waiting[line.lower] += 1
      below[line.upper].append(line.lower)
    }
    var layerOf = [Int](repeating: 0, count: count)
    var used: [Int] = []
    // Entities with lines first: those without fill the room that is left.
    let connected = Set(lines.flatMap { [$0.upper, $0.lower] })
    var ready = (0..<count).filter { waiting[$0] == 0 && connected.contains($0) }
    var next = 0
    func place(_ entity: Int) {
      var layer = layerOf[entity]
      while layer < used.count, used[layer] >= width { layer += 1 }
      while used.count <= layer { used.append(0) }
      used[layer] += 1
      layerOf[entity] = layer
    }
    while next < ready.count {
      let entity = ready[next]
      next += 1
      place(entity)
      for lower in below[entity] {
        layerOf[lower] = max(layerOf[lower], layerOf[entity] + 1)
        waiting[lower] -= 1
        if waiting[lower] == 0 { ready.append(lower) }
      }
    }
    for entity in 0..<count where !connected.contains(entity) { place(entity) }
    return layerOf
  }

  /// Orders the layers downward and upward in turn, and keeps the order with the fewest crossings.
  private mutating func order() {
    var (above, below): ([Node: [Node]], [Node: [Node]]) = ([:], [:])
    for path in paths {
      for (upper, lower) in zip(path, path.dropFirst()) {
        above[lower, default: []].append(upper)
        below[upper, default: []].append(lower)
      }
    }
    var best = (layers: layers, crossings: crossings(below))
    for round in 0..<Self.rounds where best.crossings > 0 {
      if round.isMultiple(of: 2) {
        for layer in layers.indices.dropFirst() { sort(layer, by: above, in: layer - 1) }
      } else {
        for layer in layers.indices.dropLast().reversed() { sort(layer, by: below, in: layer + 1) }
      }
      let count = crossings(below)
      if count < best.crossings { best = (layers, count) }
    }
    layers = best.layers
  }

  private static let rounds = 24

  private mutating func sort(_ layer: Int, by neighbours: [Node: [Node]], in other: Int) {
    let places = Dictionary(uniqueKeysWithValues: layers[other].enumerated().map { ($1, Double($0)) })
    let means = layers[layer].enumerated().map { place, node in
      let found = (neighbours[node] ?? []).compactMap { places[$0] }
      return (
        node: node, mean: found.isEmpty ? Double(place) : found.reduce(0, +) / Double(found.count),
        place: place
      )
    }
    layers[layer] = means.sorted { ($0.mean, $0.place) < ($1.mean, $1.place) }.map(\.node)
  }

  /// The number of pairs of lines that cross between two layers.
  private func crossings(_ below: [Node: [Node]]) -> Int {
    zip(layers, layers.dropFirst()).reduce(0) { sum, pair in
      let places = Dictionary(uniqueKeysWithValues: pair.1.enumerated().map { ($1, $0) })
      let ends = pair.0.flatMap { node in (below[node] ?? []).compactMap { places[$0] }.sorted() }
      return sum + Self.inversions(ends)
    }
  }

  /// The number of pairs in the wrong order, by merging.
  private static func inversions(_ values: [Int]) -> Int {
    var (values, count, width) = (values, 0, 1)
    var merged = values
    while width < values.count {
      for start in stride(from: 0, to: values.count, by: 2 * width) {
        let (middle, end) = (min(start + width, values.count), min(start + 2 * width, values.count))
        var (left, right) = (start, middle)
        for place in start..<end {
          if left < middle, right >= end || values[left] <= values[right] {
            merged[place] = values[left]
            left += 1
          } else {
            merged[place] = values[right]
            right += 1
            count += middle - left
          }
        }
      }
      swap(&values, &merged)
      width *= 2
    }
    return count
  }
}
