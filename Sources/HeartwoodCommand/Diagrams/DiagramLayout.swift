/// Where the boxes and lines of a diagram are, in points.
struct DiagramLayout {
  struct Box {
    var x = 0.0
    var y = 0.0
    let width: Double
    let height: Double
    /// The room at each side, for lines to itself at the right.
    var side = 13.0
  }

  struct Point: Equatable {
    var x: Double
    var y: Double
  }

  private(set) var boxes: [Box]
  /// For each line, its points from the upper box to the lower one: the first and the last are on the edges of boxes, and the others come
  /// in pairs, where the line enters and leaves a layer. Empty for a line from an entity to itself.
  private(set) var lines: [[Point]] = []
  private(set) var width = 0.0
  private(set) var height = 0.0

  /// - Parameters:
  ///   - boxes: The boxes with their sizes.
  ///   - lines: The upper and the lower box of each line.
  init(boxes: [Box], lines: [(upper: Int, lower: Int)]) {
    self.boxes = boxes
    let most = max(3, Int((Double(boxes.count) * 1.3).squareRoot().rounded(.up)))
    let layers = DiagramLayers(count: boxes.count, lines: lines, width: most)
    connect(layers, lines, place(layers))
  }

  static let margin = 24.0
  private static let gap = 36.0
  private static let bendWidth = 12.0
  /// The least height between two layers, for the ends of lines.
  private static let between = 72.0

  /// Where nodes and layers are.
  private struct Places {
    let centers: [DiagramLayers.Node: Double]
    /// The upper and the lower edge of each layer.
    let layers: [(top: Double, bottom: Double)]
  }

  /// Gives every box its place.
  private mutating func place(_ layers: DiagramLayers) -> Places {
    var centers: [DiagramLayers.Node: Double] = [:]
    let neighbours = Self.neighbours(layers.paths)
    for layer in layers.layers {
      var x = Self.margin
      for node in layer {
        centers[node] = x + width(of: node) / 2
        x += width(of: node) + Self.gap
      }
    }
    for round in 0..<Self.rounds {
      let order = round.isMultiple(of: 2) ? layers.layers : layers.layers.reversed()
      for layer in order { align(layer, neighbours, &centers) }
    }
    let least = layers.layers.joined().map { centers[$0, default: 0] - width(of: $0) / 2 }.min() ?? 0
    for node in centers.keys { centers[node]? += Self.margin - least }
    var edges: [(top: Double, bottom: Double)] = []
    var y = Self.margin
    for layer in layers.layers {
      let tallest = layer.map { height(of: $0) }.max() ?? 0
      for case .entity(let index) in layer {
        boxes[index].x = centers[.entity(index), default: 0] - boxes[index].width / 2
        boxes[index].y = y + (tallest - boxes[index].height) / 2
      }
      edges.append((y, y + tallest))
      y += tallest + Self.between
    }
    width =
      (layers.layers.joined().map { centers[$0, default: 0] + width(of: $0) / 2 }.max() ?? 0) + Self.margin
    height = max(y - Self.between, 0) + Self.margin
    return Places(centers: centers, layers: edges)
  }

  private static let rounds = 12

  private func width(of node: DiagramLayers.Node) -> Double {
    if case .entity(let index) = node { return boxes[index].width + 2 * boxes[index].side }
    return Self.bendWidth
  }

  private func height(of node: DiagramLayers.Node) -> Double {
    if case .entity(let index) = node { return boxes[index].height }
    return 0
  }

  private static func neighbours(_ paths: [[DiagramLayers.Node]]) -> [DiagramLayers.Node: [DiagramLayers
    .Node]]
  {
    var neighbours: [DiagramLayers.Node: [DiagramLayers.Node]] = [:]
    for path in paths {
      for (upper, lower) in zip(path, path.dropFirst()) {
        neighbours[upper, default: []].append(lower)
        neighbours[lower, default: []].append(upper)
      }
    }
    return neighbours
  }

  /// Moves the nodes of a layer towards the mean of their neighbours, in their order and without overlaps: nodes that would overlap become
  /// a block, which is placed at the mean of what its nodes want.
  private func align(
    _ layer: [DiagramLayers.Node], _ neighbours: [DiagramLayers.Node: [DiagramLayers.Node]],
    _ centers: inout [DiagramLayers.Node: Double]
  ) {
    var blocks: [(nodes: [DiagramLayers.Node], start: Double, width: Double, wanted: Double)] = []
    for node in layer {
      let others = (neighbours[node] ?? []).compactMap { centers[$0] }
      let center = others.isEmpty ? centers[node, default: 0] : others.reduce(0, +) / Double(others.count)
      let width = width(of: node)
      blocks.append(([node], center - width / 2, width, center - width / 2))
      while blocks.count > 1 {
        let (last, before) = (blocks[blocks.count - 1], blocks[blocks.count - 2])
        guard before.start + before.width + Self.gap > last.start else { break }
        // Where the first node of both would be, as each node of the two wants it.
        let offset = before.width + Self.gap
        let (left, right) = (Double(before.nodes.count), Double(last.nodes.count))
        let wanted = (before.wanted * left + (last.wanted - offset) * right) / (left + right)
        blocks.removeLast(2)
        blocks.append((before.nodes + last.nodes, wanted, offset + last.width, wanted))
      }
    }
    for block in blocks {
      var x = block.start
      for node in block.nodes {
        centers[node] = x + width(of: node) / 2
        x += width(of: node) + Self.gap
      }
    }
  }

  /// Gives every line its points. The ends at a box are side by side, in the order of where the lines lead.
  private mutating func connect(
    _ layers: DiagramLayers, _ given: [(upper: Int, lower: Int)], _ places: Places
  ) {
    let centers = places.centers
    var layerOf: [Int: Int] = [:]
    for (number, layer) in layers.layers.enumerated() {
      for case .entity(let index) in layer { layerOf[index] = number }
    }
    var leaving: [Int: [(line: Int, towards: Double)]] = [:]
    var arriving: [Int: [(line: Int, towards: Double)]] = [:]
    for (number, path) in layers.paths.enumerated() where path.count > 1 {
      if case .entity(let index) = path[0] {
        leaving[index, default: []].append((number, centers[path[1], default: 0]))
      }
      if case .entity(let index) = path[path.count - 1] {
        arriving[index, default: []].append((number, centers[path[path.count - 2], default: 0]))
      }
    }
    let starts = ends(leaving)
    let finishes = ends(arriving)
    for (number, path) in layers.paths.enumerated() {
      guard path.count > 1, case .entity(let upper) = path[0], case .entity(let lower) = path[path.count - 1]
      else {
        lines.append([])
        continue
      }
      var points = [Point(x: starts[number] ?? 0, y: boxes[upper].y + boxes[upper].height)]
      // A short box in a tall layer: the line leaves the layer straight.
      points.append(Point(x: points[0].x, y: places.layers[layerOf[upper] ?? 0].bottom))
      for case .bend(let line, let layer) in path {
        let x = centers[.bend(line: line, layer: layer)] ?? 0
        points += [Point(x: x, y: places.layers[layer].top), Point(x: x, y: places.layers[layer].bottom)]
      }
      let end = finishes[number] ?? 0
      points += [Point(x: end, y: places.layers[layerOf[lower] ?? 0].top), Point(x: end, y: boxes[lower].y)]
      // A line that was turned round to break a cycle is drawn upward.
      lines.append(given[number].upper == upper ? points : points.reversed())
    }
  }

  /// The place of each line's end on the edge of its box.
  private func ends(_ lines: [Int: [(line: Int, towards: Double)]]) -> [Int: Double] {
    var places: [Int: Double] = [:]
    for (index, lines) in lines {
      let box = boxes[index]
      let sorted = lines.sorted { ($0.towards, $0.line) < ($1.towards, $1.line) }
      for (place, line) in sorted.enumerated() {
        places[line.line] = box.x + box.width * Double(place + 1) / Double(sorted.count + 1)
      }
    }
    return places
  }
}
