import HeartwoodFiles

/// The state of one run of an explorer.
///
/// `lock` serializes the crashes, whatever the threads of the workload. Acknowledgements have a lock of their
/// own, because they can arrive during the verification of a crash.
final class Exploration<Acknowledgement: Sendable>: @unchecked Sendable {
  private let explorer: CrashExplorer
  /// The single sequence of crashes to replay; nil to explore all.
  private let path: [CrashReproduction.Crash]?
  private let recover: @Sendable (any FileSystem) throws -> Void
  private let verify: @Sendable (any FileSystem, [Acknowledgement]) throws -> Void
  private let lock = Lock()
  private let acknowledgementLock = Lock()
  private var acknowledged: [Acknowledgement] = []
  private var report = CrashReport()
  private var seen: Set<ImageIdentity> = []

  /// The identity of an image, for the detection of duplicates.
  private struct ImageIdentity: Hashable {
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

  /// The workload is about to make a call, or has ended if `mutation` is nil.
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

  /// The call just before which the disk crashes, and the crashes before it.
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
    let observation = ImageIdentity(
      fingerprint: image.fingerprint, acknowledgements: promised.count, depth: moment.earlier.count)
    guard report.distinctImages < explorer.imageBudget, seen.insert(observation).inserted else { return }
    report.distinctImages += 1
    let goesDeeper = moment.earlier.count < explorer.recoveryDepth
    guard let message = failure(of: image, moment, promised, recoveries: goesDeeper) else { return }
    guard report.failure == nil else { return }
    let (smallest, its) = shrunk(image, message, moment, promised)
    report.failure = failure(moment, smallest, its)
  }

  /// The verification error of an image, or nil. With `recoveries`, the recovery crashes too.
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
    // This thread holds `lock` and waits in `recover`, which can have threads of its own: they need another
    // lock.
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

  /// The image with the fewest changes, in call order, that fails at the same moment. The exploration visits
  /// the calls in order, so no earlier call fails.
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
  /// Recipes that are simpler than this one's in one way: half of the changes, one change less, one torn
  /// write whole, or the changes in call order.
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
