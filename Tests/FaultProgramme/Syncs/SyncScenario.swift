import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A sync that does not do what it should, and for how long.
struct BadSync: Sendable, CustomStringConvertible {
  let behavior: SyncBehavior
  let call: FailingCall
  let duration: FaultPlan.Duration

  var plan: FaultPlan {
    let occurrence = duration == .once ? FaultPlan.Occurrence.nth(call.number) : .from(call.number)
    return FaultPlan([.init(.sync(behavior), on: call.calls, occurrence)])
  }

  var description: String { "\(plan)" }

  /// Whether the caller is told.
  var fails: Bool { behavior != .lies }
}

/// A workload on a disk on which a sync misbehaves, and crashes behind it.
struct SyncScenario {
  let prepared: PreparedWorkload
  let sync: BadSync
  let limits: CrashImageLimits

  /// Runs the workload. Looks at what a crash leaves at the calls behind the bad sync, and in the end.
  ///
  /// - Parameter seen: What was looked at.
  /// - Returns: the errors that the store gave.
  func run(_ seen: inout Set<CrashesBehindSync.LedgerObservation>) throws -> [EngineError] {
    let (disk, reference) = prepared.begin()
    let crashes = CrashesBehindSync(disk, limits, seen) {
      reference.now.hashValue
    } check: { image in
      try check(image, reference.now)
    }
    let plan = prepared.workload.faults + sync.plan
    let fileSystem = FaultInjectingFileSystem(base: disk, plan: plan) { _ in crashes.beforeCall() }
    crashes.faults = fileSystem
    let session = Session(fileSystem, reference: reference)
    session.syncsRevert = sync.behavior == .failsRevertingData
    do {
      try session.runThroughErrors(prepared.workload.steps)
      crashes.look()
      try session.close()
    } catch let error as EngineError {
      try requireClear(error, "closing")
    } catch { throw Finding("\(sync): \(error)") }
    crashes.look()
    for error in session.errors { try requireClear(error, "\(sync)") }
    if let finding = crashes.finding { throw Finding("\(sync), \(finding)") }
    try requireNothingOpen(disk, "\(sync), closed")
    seen = crashes.seen
    return session.errors
  }

  private func check(_ image: CrashImage, _ promise: ReferenceModel.Promise) throws {
    let disk = image.mounted()
    if sync.fails {
      try StoreChecker(promise: promise).check(disk)
    } else {
      try LyingDiskChecker(promise: promise).check(disk)
    }
  }
}

/// Crashes at the first few calls behind a fault.
final class CrashesBehindSync: @unchecked Sendable {
  private let disk: SimulatedFileSystem
  private let limits: CrashImageLimits
  private let promise: () -> Int
  private let check: (CrashImage) throws -> Void
  private var calls = 0
  /// Weak, as it keeps what calls this.
  weak var faults: FaultInjectingFileSystem?
  private(set) var seen: Set<LedgerObservation>
  /// The first image that is not as it has to be.
  private(set) var finding: String?

  /// What makes one image differ from another: its bytes, and what was promised when they were all that was left.
  struct LedgerObservation: Hashable {
    let fingerprint: Int
    let promise: Int
  }

  /// - Parameters:
  ///   - seen: What need not be looked at again.
  ///   - promise: Tells what is promised now from anything else.
  init(
    _ disk: SimulatedFileSystem, _ limits: CrashImageLimits, _ seen: Set<LedgerObservation>,
    promise: @escaping () -> Int, check: @escaping (CrashImage) throws -> Void
  ) {
    self.disk = disk
    self.limits = limits
    self.seen = seen
    self.promise = promise
    self.check = check
  }

  /// To be called before every call that changes something.
  func beforeCall() {
    guard calls < 6, let faults, faults.firingCounts.contains(where: { $0 > 0 }) else { return }
    calls += 1
    look()
  }

  /// Looks at what a crash now leaves.
  func look() {
    guard finding == nil else { return }
    let promised = promise()
    for image in disk.crashImages(limits) {
      guard seen.insert(LedgerObservation(fingerprint: image.fingerprint, promise: promised)).inserted else {
        continue
      }
      do {
        try check(image)
      } catch {
        finding = "after a crash, \(image): \(error)"
        return
      }
    }
  }
}
