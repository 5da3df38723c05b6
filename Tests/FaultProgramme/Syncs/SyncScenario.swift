import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The misbehavior of a sync and its duration.
struct BadSync: Sendable, CustomStringConvertible {
  let behavior: SyncBehavior
  let call: FailingCall
  let duration: FaultPlan.Duration

  var plan: FaultPlan {
    let occurrence = duration == .once ? FaultPlan.Occurrence.nth(call.number) : .from(call.number)
    return FaultPlan([.init(.sync(behavior), on: call.calls, occurrence)])
  }

  var description: String { "\(plan)" }

  /// Whether the caller gets an error.
  var fails: Bool { behavior != .lies }
}

/// A workload on a disk with a misbehaving sync, followed by crashes.
struct SyncScenario {
  let prepared: PreparedWorkload
  let sync: BadSync
  let limits: CrashImageLimits

  /// Runs the workload. Checks the crash images at the calls after the bad sync and at the end.
  ///
  /// - Parameter seen: The images that were already checked.
  /// - Returns: The errors that the store threw.
  func run(_ seen: inout Set<CrashesBehindSync.ImageIdentity>) throws -> [EngineError] {
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

/// Crashes at the first few calls after a fault.
final class CrashesBehindSync: @unchecked Sendable {
  private let disk: SimulatedFileSystem
  private let limits: CrashImageLimits
  private let promise: () -> Int
  private let check: (CrashImage) throws -> Void
  private var calls = 0
  /// Weak, because the file system retains this object.
  weak var faults: FaultInjectingFileSystem?
  private(set) var seen: Set<ImageIdentity>
  /// The first image that failed the check.
  private(set) var finding: String?

  /// The identity of an image: its bytes, and the promise that applied when it was possible.
  struct ImageIdentity: Hashable {
    let fingerprint: Int
    let promise: Int
  }

  /// - Parameters:
  ///   - seen: The images that need not be checked again.
  ///   - promise: A number that identifies the current promise.
  init(
    _ disk: SimulatedFileSystem, _ limits: CrashImageLimits, _ seen: Set<ImageIdentity>,
    promise: @escaping () -> Int, check: @escaping (CrashImage) throws -> Void
  ) {
    self.disk = disk
    self.limits = limits
    self.seen = seen
    self.promise = promise
    self.check = check
  }

  /// Must be called before every call that changes something.
  func beforeCall() {
    guard calls < 6, let faults, faults.firingCounts.contains(where: { $0 > 0 }) else { return }
    calls += 1
    look()
  }

  /// Checks the images that a crash at this moment can leave.
  func look() {
    guard finding == nil else { return }
    let promised = promise()
    for image in disk.crashImages(limits) {
      guard seen.insert(ImageIdentity(fingerprint: image.fingerprint, promise: promised)).inserted else {
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
