import BenchmarkHarness

/// Rows that open a store, until its first record is read.
extension EngineRow {
  static var openAfterClose: EngineRow {
    EngineRow(name: Name.openAfterClose, unit: .milliseconds) { session, work in
      var times: [Double] = []
      var digest = ReadDigest()
      for _ in 0..<25 {
        try session.close(.sorted)
        times.append(
          try timed { try session.store(.sorted).getNewest(work.lookUps[0], into: &digest) }.seconds)
      }
      return PeerMeasurement(figure: median(times) * 1000, digest: digest.value)
    }
  }

  /// Opens copies of the folder of a store that is in use: what a killed program leaves, with nearly as much log
  /// behind the last checkpoint as there can be.
  static var openAfterCrash: EngineRow {
    EngineRow(name: Name.openAfterCrash, unit: .milliseconds, needsCopies: true) { session, work in
      // Just opened: where there is much garbage, checkpoints come sooner.
      try session.close(.sorted)
      let store = try session.store(.sorted)
      let keys = KeyList(work.records, ranks: Array(work.overwrites.ranks.prefix(400_000)))
      try update(store, work, keys, perCommit: 100, version: 41)
      // At once: a second later the store gives space back, and files would go while they are copied.
      let image = try session.copy(.sorted)
      let expected = try digestOfAll(store)
      let times = try (0..<5).map { _ in try timeToOpenCopy(session, image, work.overwrites[0], expected) }
      return PeerMeasurement(figure: median(times) * 1000)
    }
  }

  private static func timeToOpenCopy(
    _ session: EngineSession, _ image: Scratch, _ key: UnsafeRawBufferPointer, _ expected: UInt64
  ) throws -> Double {
    let copy = try session.copy(image)
    var digest = ReadDigest()
    let (seconds, store) = try timed {
      let store = try session.open(copy.path)
      try store.getNewest(key, into: &digest)
      return store
    }
    guard try digestOfAll(store) == expected else {
      throw BenchmarkError("\(session.kind.name) opens something else after a crash")
    }
    try store.close()
    return seconds
  }
}
