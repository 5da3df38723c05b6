import HeartwoodFiles

/// One run of an explorer: what it has seen and what it has found.
///
/// Crashes are looked at one at a time, whatever the threads of the workload; acknowledgements have a lock
/// of their own, as they may come while a crash is looked at.
final class Exploration<Acknowledgement: Sendable>: @unchecked Sendable {
  private let explorer: CrashExplorer
  /// The one path of crashes to go; nil for all.
  private let path: [CrashReproduction.Crash]?
  private let recover: @Sendable (any FileSystem) throws -> Void
  private let verify: @Sendable (any FileSystem, [Acknowledgement]) throws -> Void
  private let lock = Lock()
  private let acknowledgementLock = Lock()
  private var acknowledged: [Acknowledgement] = []
  private var report = CrashReport()
  private var seen: Set<LedgerObservation> = []

  /// What makes one image differ from another.
  private struct LedgerObservation: Hashable {
    let fingerprint: Int
    let acknowledgements: Int
    let depth: Int
  }

  init(
    _ explorer: CrashExplorer, replaying path: [CrashReproduction.Crash]? = nil,
    recover: @escaping @Sendable (any FileSystem) throws -> Void,
    verify: @escaping @Sendable (any FileSystem, [Acknowledgement]) throws -> Void
  ) {
    self.explorer = explorer
    self.path = path
    self.recover = recover
    self.verify = verify
  }

  func acknowledge(_ acknowledgement: Acknowledgement) {
    acknowledgementLock.withLock { acknowledged.append(acknowledgement) }
  }

  /// The workload is about to make a call, or has come to its end.
  func crash(_ disk: SimulatedFileSystem, before mutation: Mutation?) {
    let promised = acknowledgementLock.withLock { acknowledged }
    lock.withLock {
      if mutation != nil { report.calls += 1 }
      let moment = Moment(number: mutation?.number ?? report.calls + 1, words: mutation.words, earlier: [])
      lookAt(disk, moment, promised)
    }
  }

  func finished(after duration: Duration) -> CrashReport {
    lock.withLock {
      report.seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
      return report
    }
  }

  // MARK: Moments

  /// The call just before which a crash comes, and the crashes before that.
  private struct Moment {
    let number: Int
    let words: String
    let earlier: [CrashReproduction.Crash]

    func path(_ recipe: CrashRecipe) -> [CrashReproduction.Crash] {
      earlier + [CrashReproduction.Crash(call: number, recipe: recipe)]
    }
  }

  private func lookAt(_ disk: SimulatedFileSystem, _ moment: Moment, _ promised: [Acknowledgement]) {
    guard report.failure == nil else { return }
    if let path {
      replay(disk, moment, promised, path)
    } else {
      let limits = moment.earlier.isEmpty ? explorer.limits : explorer.recoveryLimits
      for image in disk.crashImages(limits) where report.failure == nil { check(image, moment, promised) }
    }
  }

  private func replay(
    _ disk: SimulatedFileSystem, _ moment: Moment, _ promised: [Acknowledgement],
    _ path: [CrashReproduction.Crash]
  ) {
    let crash = path[moment.earlier.count]
    guard crash.call == moment.number else { return }
    let image = disk.crashImages(explorer.limits).image(crash.recipe)
    let isLast = path.count == moment.earlier.count + 1
    if isLast { report.images += 1 }
    if let message = failure(of: image, moment, promised, recoveries: !isLast) {
      report.failure = failure(moment, image, message)
    }
  }

  private func check(_ image: CrashImage, _ moment: Moment, _ promised: [Acknowledgement]) {
    report.images += 1
    let observation = LedgerObservation(
      fingerprint: image.fingerprint, acknowledgements: promised.count, depth: moment.earlier.count)
    guard report.distinctImages < explorer.imageBudget, seen.insert(observation).inserted else { return }
    report.distinctImages += 1
    let goesDeeper = moment.earlier.count < explorer.recoveryDepth
    guard let message = failure(of: image, moment, promised, recoveries: goesDeeper) else { return }
    guard report.failure == nil else { return }
    let (smallest, its) = shrunk(image, message, moment, promised)
    report.failure = failure(moment, smallest, its)
  }

  /// What is wrong with an image, where something is; `recoveries` lets its recovery crash too.
  private func failure(
    of image: CrashImage, _ moment: Moment, _ promised: [Acknowledgement], recoveries: Bool
  ) -> String? {
    let disk = image.mounted()
    do {
      if recoveries {
        try recoverWithCrashes(disk, moment.path(image.recipe), promised)
      } else {
        try recover(disk)
      }
      try verify(disk, promised)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func recoverWithCrashes(
    _ disk: SimulatedFileSystem, _ path: [CrashReproduction.Crash], _ promised: [Acknowledgement]
  ) throws {
    // The thread that holds the explorer's lock waits in `recover`, which may have threads of its own.
    let recoveryLock = Lock()
    let observed = FaultInjectingFileSystem(base: disk) { mutation in
      recoveryLock.withLock {
        self.report.recoveryCalls += 1
        let words = "\(mutation) of recovery \(path.count)"
        self.lookAt(disk, Moment(number: mutation.number, words: words, earlier: path), promised)
      }
    }
    try recover(observed)
  }

  // MARK: Failures

  private func failure(_ moment: Moment, _ image: CrashImage, _ message: String) -> CrashFailure {
    CrashFailure(
      moment: moment.words, image: image, message: message,
      reproduction: CrashReproduction(
        seed: explorer.seed, crashModel: explorer.crashModel, faults: explorer.faults,
        crashes: moment.path(image.recipe)))
  }

  /// The image with the fewest changes, and in their order, that fails at the same moment. Calls come in
  /// their order, so that there is none that fails at an earlier one.
  private func shrunk(
    _ image: CrashImage, _ message: String, _ moment: Moment, _ promised: [Acknowledgement]
  ) -> (CrashImage, String) {
    var smallest = (image: image, message: message)
    var improved = true
    while improved {
      improved = false
      for candidate in smallest.image.simplerRecipes {
        let image = image.moment.image(candidate)
        guard let message = failure(of: image, moment, promised, recoveries: false) else { continue }
        smallest = (image, message)
        improved = true
        break
      }
    }
    return smallest
  }
}

extension Mutation? {
  fileprivate var words: String { map(\.description) ?? "the end" }
}

extension CrashImage {
  /// Recipes that differ from this one's in one way and are simpler: half or one of the changes less, one
  /// torn write whole, the order of the calls.
  fileprivate var simplerRecipes: [CrashRecipe] {
    let items = recipe.items
    var simpler: [CrashRecipe] = []
    if items.count > 3 {
      simpler += [
        CrashRecipe(items: Array(items.prefix(items.count / 2))),
        CrashRecipe(items: Array(items.suffix(items.count / 2))),
      ]
    }
    simpler += items.indices.reversed().map { recipe.without($0) }
    if !recipe.isInOrder {
      simpler.append(CrashRecipe(items: items.sorted { $0.change < $1.change }))
    }
    for (position, item) in items.enumerated() where item.tear != nil {
      var whole = recipe
      whole.items[position].tear = nil
      simpler.append(whole)
    }
    return simpler.map(moment.possible).filter { $0 != recipe }
  }
}
