import TestSupport
import Foundation
import HeartwoodFaults
import Testing

@testable import HeartwoodCommand

#if canImport(FoundationXML)
  import FoundationXML
#endif

private func text(_ format: String) throws -> String {
  let directory = try TemporaryFolder()
  let run = CommandRun(
    "model", try directory.file("small.json", SmallWorld.document), "--format", format)
  #expect(run.status == .success)
  return run.output
}

@Test func `a Mermaid diagram has each entity, and each pair of relationships once`() throws {
  #expect(
    try text("mermaid") == """
      classDiagram
        class Continent {
          string name
        }
        class Country {
          string code
          string name
          integer64? population
        }
        class City {
          string name
        }
        Continent "0..1" -- "*" Country : countries / continent
        Country "0..1" -- "0..1" City : capital / capitalOf
        Country "1" -- "*" City : cities / country
        Country "*" -- "*" Country : neighbours / neighbours

      """)
}

@Test func `a DOT diagram has a table for each entity, and an edge for each pair of relationships`() throws {
  let lines = try text("dot").split(separator: "\n")
  #expect(lines.filter { $0.contains("<table") }.count == 3)
  #expect(lines.filter { $0.contains(" -> ") }.count == 4)
  #expect(
    lines.contains(
      "  e1 -> e2 [label = \"cities / country\", headlabel = \"*\", taillabel = \"1\", dir = none];"))
}

@Test func `an SVG diagram is XML that names each entity and property`() throws {
  let reader = TextReader()
  let parser = XMLParser(data: Data(try text("svg").utf8))
  parser.delegate = reader
  #expect(parser.parse())
  for name in ["Continent", "Country", "City", "population", "integer64?", "neighbours", "capitalOf"] {
    #expect(reader.texts.contains(name))
  }
}

@Test func `each relationship of an entity with itself has a line and a label of its own`() throws {
  let relationships = #"""
    {"friend": {"destination": "Person"}, "boss": {"destination": "Person", "inverse": "staff"},
     "staff": {"destination": "Person", "toMany": true, "inverse": "boss"},
     "partner": {"destination": "Person", "inverse": "partner"}}
    """#
  let directory = try TemporaryFolder()
  let file = try directory.file("m.json", #"{"entities": {"Person": {"relationships": \#(relationships)}}}"#)
  let svg = CommandRun("model", file, "--format", "svg").output
  let labels = svg.matches(of: #/<text class="cardinality" x="([\d.]+)" y="([\d.]+)">([^<]+)</#).map {
    $0.output
  }
  let heights = labels.compactMap { Double($0.2) }.sorted()
  #expect(Set(labels.map(\.3)) == ["0..1", "* 0..1", "0..1 0..1"])
  #expect(zip(heights, heights.dropFirst()).allSatisfy { $1 - $0 >= 12 })
  let width = try #require(svg.firstMatch(of: #/viewBox="0 0 ([\d.]+)/#).flatMap { Double($0.output.1) })
  #expect(labels.allSatisfy { (Double($0.1) ?? 0) + 6.7 * Double($0.3.count) <= width })
  let lines = svg.matches(of: #/<path class="relates" d="([^"]+)"/#).map { $0.output.1 }
  #expect(lines.count == 3 && Set(lines).count == 3)
}

/// Collects the texts of the elements.
private final class TextReader: NSObject, XMLParserDelegate {
  var texts: Set<String> = []
  func parser(_ parser: XMLParser, foundCharacters string: String) { texts.insert(string) }
}

@Test(arguments: 0..<60)
func `boxes of random diagrams do not overlap, and lines cross none`(seed: UInt64) {
  var random = SplitMix64(seed: seed)
  let count = Int.random(in: 1...60, using: &random)
  let boxes = (0..<count).map { _ in
    DiagramLayout.Box(
      width: Double.random(in: 60...260, using: &random), height: Double.random(in: 30...300, using: &random))
  }
  let lines = (0..<Int.random(in: 0...2 * count, using: &random)).map { _ in
    (upper: Int.random(in: 0..<count, using: &random), lower: Int.random(in: 0..<count, using: &random))
  }
  let layout = DiagramLayout(boxes: boxes, lines: lines)
  for (index, box) in layout.boxes.enumerated() {
    #expect(box.x >= 0 && box.y >= 0)
    #expect(box.x + box.width <= layout.width && box.y + box.height <= layout.height)
    for other in layout.boxes[..<index] { #expect(!box.overlaps(other)) }
  }
  for (line, points) in zip(lines, layout.lines) {
    guard line.upper != line.lower else {
      #expect(points.isEmpty)
      continue
    }
    #expect(layout.boxes[line.upper].hasOnEdge(points[0]))
    #expect(layout.boxes[line.lower].hasOnEdge(points[points.count - 1]))
    // Curves run between the layers, where no box is; within a layer a line is straight and beside the boxes.
    for (from, to) in zip(points, points.dropFirst()) where from.x == to.x {
      for box in layout.boxes { #expect(!box.isCrossed(from, to)) }
    }
  }
}

extension DiagramLayout.Box {
  fileprivate func overlaps(_ other: DiagramLayout.Box) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }

  fileprivate func hasOnEdge(_ point: DiagramLayout.Point) -> Bool {
    point.x > x && point.x < x + width && (point.y == y || abs(point.y - y - height) < 0.001)
  }

  fileprivate func isCrossed(_ from: DiagramLayout.Point, _ to: DiagramLayout.Point) -> Bool {
    from.x > x && from.x < x + width && min(from.y, to.y) < y + height - 0.001
      && max(from.y, to.y) > y + 0.001
  }
}
