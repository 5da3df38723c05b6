import Testing

@testable import HeartwoodEngine

/// Checks that the page of limits has the code's numbers.
@Suite struct `The page of limits` {
  private let rows: [[String]]

  init() throws {
    let document = try FormatDocument(at: "Sources/HeartwoodEngine/Documentation.docc/Limits.md")
    rows = try #require(document.tables["The limits"])
  }

  @Test func `the page of limits states the limits of the code`() throws {
    let smallest = EngineOptions(segmentBytes: 0, checkpointBytes: 0)
    let largest = EngineOptions(segmentBytes: .max, checkpointBytes: .max)
    let known: [String: (least: Set<Int?>, most: Int?)] = [
      "keyLimit": ([0, 1], Format.keyLimit), "valueLimit": ([0], Format.valueLimit),
      "segmentLimit": ([nil], Format.segmentLimit),
      "segmentBytes": ([smallest.segmentBytes], largest.segmentBytes),
      "checkpointBytes": ([smallest.checkpointBytes], nil),
      "segmentNumberLimit": ([nil], Int(Format.segmentNumberLimit)),
      "levelLimit": ([nil], TreeRoot.levelLimit),
    ]
    for row in rows where !row[3].isEmpty {
      let limit = try #require(known[row[3]], "\(row[0]): no constant \(row[3])")
      #expect(limit.least.contains(Int(row[1])), "\(row[0])")
      #expect(Int(row[2]) == limit.most, "\(row[0])")
    }
    #expect(Set(rows.map { $0[3] }).subtracting([""]) == Set(known.keys))
  }

  @Test func `the page of limits states how much a put and a frame add to the log`() {
    #expect(Record.overheadLimit == 28)
    #expect(Format.frameHeaderBytes + Format.frameTrailerBytes == 88)
    #expect(Format.frameBytes == 1 << 20)
  }
}
