/// A piece at a destination.
struct ShippedPiece {
  var header: PieceHeader
  var checksum: UInt64
  var bytes: Int64
}

/// Ships one piece: verifies its bytes, and puts them at the destination.
struct PieceShipment {
  let plan: PiecePlan
  let number: UInt64
  /// The piece before; nil for the first one.
  let previous: ShippedPiece?
  let lineage: Lineage
  /// The time, in nanoseconds since 1970.
  let time: Int64
  let destination: any ShippingDestination

  func run() throws(EngineError) -> ShippedPiece {
    let source = PieceSource(plan)
    // 1. Damage is not shipped.
    let times = try source.verify(after: previous?.header.segments ?? [])
    // 2. The header has the checksums of all parts.
    var header = header(times)
    for index in header.parts.indices {
      var checksum = PartChecksum()
      try source.read(header.parts[index]) { (chunk) throws(EngineError) in checksum.add(chunk) }
      header.parts[index].checksum = checksum.value
    }
    // 3. Put it as a whole or not at all.
    let (head, checksum) = header.encoded()
    try destination.put(PieceName(number, isBase: header.isBase).text) { (write) throws(EngineError) in
      try head.withBytes { (head) throws(EngineError) in try write(head) }
      for part in header.parts { try source.read(part, write) }
    }
    return ShippedPiece(header: header, checksum: checksum, bytes: header.totalBytes ?? 0)
  }

  private func header(_ times: PieceSource.Times) -> PieceHeader {
    let contents = plan.contents
    let known = previous?.header.latestTime ?? time
    return PieceHeader(
      identifier: contents.identifier, lineage: lineage, number: number, previous: previous?.checksum ?? 0,
      created: contents.created, content: contents.content, features: contents.features,
      nextSegment: contents.nextSegment,
      checkpoint: contents.checkpoint?.position,
      checkpointChecksum: contents.checkpoint?.checksum ?? 0, start: plan.start, end: contents.end,
      earliestTime: times.isEmpty ? known : times.earliest, latestTime: times.isEmpty ? known : times.latest,
      shipped: time, segments: plan.segments, parts: plan.parts)
  }
}
