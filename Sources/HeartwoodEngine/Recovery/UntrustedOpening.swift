import HeartwoodFiles

/// Opens a store that somebody else may have made: within limits, and only where nothing is wrong with it.
struct UntrustedOpening {
  let path: String
  let options: EngineOptions
  let limits: EngineOptions.UntrustedLimits
  let fileSystem: any FileSystem

  func run() throws(EngineError) -> OpenStore {
    // 1. Nothing is read of a store that is larger than was allowed.
    try checkSize()
    var options = options
    options.access = .readOnly
    options.createsStore = false
    options.reading = .buffered
    let store = try Opening(path, options, fileSystem).run()
    do throws(EngineError) {
      // 2. What a walk through the tree costs is known before one is begun.
      try checkTree(store)
      // 3. Every byte of it is as a store's have to be.
      try verify(store)
      return store
    } catch {
      try? store.close()
      throw error
    }
  }

  private func checkSize() throws(EngineError) {
    let folder = try StoreFolder.openDamaged(path, fileSystem: fileSystem)
    defer { folder.close() }
    let names = try folder.entries()
    guard names.count <= limits.files else {
      throw tooLarge("it has \(names.count) files, and \(limits.files) are allowed")
    }
    var total: Int64 = 0
    for name in names where SegmentName.parse(name) != nil || name == StoreFolder.anchorName {
      let file = try folder.open(name, .readOnly)
      defer { try? file.close() }
      let (sum, isTooLarge) = total.addingReportingOverflow(Int64(try folder.size(of: file)))
      guard !isTooLarge, sum <= limits.fileBytes else {
        throw tooLarge("its files have more than the \(limits.fileBytes) bytes that are allowed")
      }
      total = sum
    }
  }

  private func checkTree(_ store: OpenStore) throws(EngineError) {
    let levels = max(store.generations.tip.root.level, Int(store.newestCheckpoint?.record.root.level ?? 0))
    guard levels <= limits.treeLevels else {
      throw tooLarge("its tree has \(levels) levels of branches, and \(limits.treeLevels) are allowed")
    }
  }

  private func verify(_ store: OpenStore) throws(EngineError) {
    let report = try store.verify(progress: nil)
    guard let first = report.findings.first else { return }
    let others = report.findings.count > 1 ? ", and \(report.findings.count - 1) more findings" : ""
    throw EngineError.damaged("the store is not opened: \(first)\(others)", file: path)
  }

  private func tooLarge(_ why: String) -> EngineError {
    EngineError(.tooLarge, "the store is not opened: \(why)", file: path)
  }
}
