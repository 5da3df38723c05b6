import HeartwoodFiles

/// Opens a store from an untrusted source: within limits, and only if verification finds nothing.
struct UntrustedOpening {
  let path: String
  let options: EngineOptions
  let limits: EngineOptions.UntrustedLimits
  let fileSystem: any FileSystem

  func run() throws(EngineError) -> OpenStore {
    // 1. Refuse a store that exceeds the limits before reading it.
    try checkSize()
    var options = options
    options.access = .readOnly
    options.createsStore = false
    options.reading = .buffered
    let store = try Opening(path, options, fileSystem).run()
    do throws(EngineError) {
      // 2. `UntrustedTree.check` has inspected the checkpoint's tree; the log may have increased its height.
      try checkLevels(store)
      // 3. Verify every byte.
      try verify(store)
      return store
    } catch {
      try? Closing(store: store).run()
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

  private func checkLevels(_ store: OpenStore) throws(EngineError) {
    let levels = PinnedGeneration(store.generations).pin.root.level
    guard levels <= limits.treeLevels else { throw UntrustedTree.tooManyLevels(levels, limits, path) }
  }

  private func verify(_ store: OpenStore) throws(EngineError) {
    let report = try Verification.run(store, progress: nil)
    guard let first = report.findings.first else { return }
    let further = report.findings.count - 1 + report.furtherFindings
    let others = further > 0 ? ", and \(further) more findings" : ""
    throw EngineError.damaged("the store is not opened: \(first)\(others)", file: path)
  }

  private func tooLarge(_ why: String) -> EngineError {
    EngineError(.tooLarge, "the store is not opened: \(why)", file: path)
  }
}
