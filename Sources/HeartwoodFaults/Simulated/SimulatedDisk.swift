import HeartwoodFiles

/// The disk that all processes of a simulated machine share.
final class SimulatedDisk: @unchecked Sendable {
  private let lock = Lock()
  private var state: SimulatedState
  let seed: UInt64
  let crashModel: CrashModel

  init(_ durable: DiskState, seed: UInt64, _ crashModel: CrashModel) {
    state = SimulatedState(durable, crashModel)
    self.seed = seed
    self.crashModel = crashModel
  }

  /// Reads the state of the disk, or changes it from outside of any process.
  func with<Result>(_ body: (inout SimulatedState) -> Result) -> Result { lock.withLock { body(&state) } }

  /// Makes a call of a process. Fails if the process was killed.
  func perform<Result>(
    as process: ProcessIdentifier, _ operation: FileSystemError.Operation, _ path: String,
    _ call: (inout SimulatedState) throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    try lock.withLock { () throws(FileSystemError) in
      guard state.handles.isAlive(process) else {
        throw FileSystemError(.processKilled, operation, path: path, isInjected: true)
      }
      return try call(&state)
    }
  }

  /// Closes a file. The process may have been killed.
  func close(_ handle: Handle) { lock.withLock { state.handles.close(handle) } }

  /// The images that a crash at this moment can leave.
  func crashImages(_ limits: CrashImageLimits) -> CrashImages {
    let (durable, pending) = lock.withLock { (state.durable, state.pending.map(\.change)) }
    let moment = CrashMoment(durable: durable, changes: pending, crashModel: crashModel, seed: seed)
    return CrashImages(moment, limits: limits)
  }
}

extension FileSystemError.Code {
  /// The simulated process was killed before it made the call.
  public static let processKilled = FileSystemError.Code(rawValue: "process killed")
}
