import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A simulated machine with one process that uses a store. It fails, is killed and crashes.
final class Machine {
  private(set) var disk: SimulatedFileSystem
  private var process: SimulatedProcess
  /// The disk as the process sees it.
  private(set) var files: FaultInjectingFileSystem
  let clock = SimulatedClock()
  let entropy: SeededEntropy
  /// Whether syncs have falsely reported success, and no crash has shown the loss yet.
  private var hasLied = false
  /// Whether a failed sync has dropped bytes from the cache since the store was opened.
  private var hasReverted = false
  /// Whether a failed sync has marked bytes as clean that are not on disk, so that the next sync skips them.
  private var hasForgotten = false
  /// The number of injections of each fault of the plan at the last check.
  private var seenFirings: [Int: Int] = [:]
  private(set) var isFailing = false
  /// Whether the machine may have failed since the store was opened.
  private(set) var hasFailed = false

  init(seed: UInt64, _ random: inout SplitMix64) {
    let crashModel = random.pick([CrashModel.hostile, .hostile, .posix, .ext4Ordered])
    disk = SimulatedFileSystem(seed: seed, crashModel: crashModel)
    entropy = SeededEntropy(seed: seed)
    process = disk.process(named: "store")
    files = FaultInjectingFileSystem(base: process, clock: clock)
  }

  // MARK: Faults

  /// Lets the machine fail in this way from now on.
  func use(_ plan: FaultPlan, roomOnDisk: Int64? = nil) {
    lookBack()
    files.use(plan)
    seenFirings = [:]
    disk.spaceLimit = roomOnDisk.map { disk.usedBytes + $0 }
    isFailing = !plan.isEmpty || roomOnDisk != nil
    hasFailed = hasFailed || isFailing
  }

  func heal() { use(FaultPlan()) }

  /// Updates the state with the effects of the syncs since the last check.
  private func lookBack() {
    let firings = files.firingCounts
    for (index, fault) in files.plan.faults.enumerated() where firings[index] > seenFirings[index, default: 0]
    {
      switch fault.action {
      case .sync(.lies): hasLied = true
      case .sync(.failsRevertingData): hasReverted = true
      case .sync(.failsKeepingData): hasForgotten = true
      default: break
      }
      seenFirings[index] = firings[index]
    }
  }

  var syncsHaveLied: Bool {
    lookBack()
    return hasLied
  }

  var syncsHaveReverted: Bool {
    lookBack()
    return hasReverted
  }

  /// Records that the store relies on the next sync although one has failed. For the contents of the disk,
  /// that sync has lied.
  func noteReliance() {
    lookBack()
    hasLied = hasLied || hasForgotten
  }

  /// Records that a store was opened and has read everything again.
  func noteOpening() {
    lookBack()
    hasReverted = false
    hasForgotten = false
    hasFailed = isFailing
  }

  // MARK: Ends

  /// Another process, which exists as long as the first one runs.
  func anotherProcess() -> any FileSystem { files.sharingPlan(over: disk.process(named: "other")) }

  /// Ends the process. Its writes stay in the cache.
  func kill() {
    process.kill()
    start()
  }

  /// Cuts the power. A part of the changes that were not durable survives.
  ///
  /// - Returns: A description of the changes that survived.
  func crash(_ random: inout SplitMix64) -> String {
    lookBack()
    process.kill()
    let image = drawImage(&random)
    replaceDisk(by: image.mounted())
    return image.description
  }

  /// Makes everything durable, as a clean shutdown of the machine does.
  func flush() {
    process.kill()
    if let image = disk.crashImages(.prefixesOnly).first(where: { _ in true }) {
      replaceDisk(by: image.mounted())
    }
  }

  /// Starts again with an empty disk.
  func beginAnew(seed: UInt64) {
    process.kill()
    replaceDisk(by: SimulatedFileSystem(seed: seed, crashModel: disk.crashModel))
  }

  private func replaceDisk(by other: SimulatedFileSystem) {
    disk = other
    isFailing = !files.plan.isEmpty
    hasLied = false
    hasForgotten = false
    start()
  }

  private func start() {
    process = disk.process(named: "store")
    files = files.sharingPlan(over: process)
  }

  private func drawImage(_ random: inout SplitMix64) -> CrashImage {
    var limits = CrashImageLimits()
    let kind = random.below(4)
    limits.includesPrefixes = kind == 0
    limits.includesSingleLosses = kind == 1
    limits.includesSingleSurvivors = kind == 1
    limits.tornWrites = kind == 2 ? 3 : 0
    limits.drawnImages = kind == 3 ? 16 : 0
    let wanted = random.below(20)
    var images = disk.crashImages(limits).makeIterator()
    var chosen = images.next()
    for _ in 0..<wanted {
      guard let next = images.next() else { break }
      chosen = next
    }
    guard let chosen else { preconditionFailure("A crash leaves something.") }
    return chosen
  }
}
