import HeartwoodFaults
import HeartwoodFiles

/// One call of many, by its operation and its number among those.
struct FailingCall: Sendable, CustomStringConvertible {
  let calls: FaultPlan.Calls
  let number: Int

  var description: String { "\(calls) \(number)" }

  /// All calls that `body` makes to a file system over `base`, operation by operation.
  static func all(over base: any FileSystem, _ body: (any FileSystem) throws -> Void) throws -> [FailingCall]
  {
    // Faults that are never met: only their counters are wanted.
    let kinds = FileSystemError.Operation.allCases.map(FaultPlan.Calls.of)
    let plan = FaultPlan(kinds.map { FaultPlan.Fault($0, occurrence: .max) })
    let fileSystem = FaultInjectingFileSystem(base: base, plan: plan)
    try body(fileSystem)
    return fileSystem.report.lines.flatMap { line in
      (0..<line.calls).map { FailingCall(calls: line.fault.calls, number: $0 + 1) }
    }
  }

  /// The call fails in this way.
  func plan(_ way: WayToFail) -> FaultPlan {
    let calls = way.isOfAllCalls ? FaultPlan.Calls.any : calls
    return FaultPlan([
      .init(calls, occurrence: number, code: way.code, duration: way.duration, effect: way.effect)
    ])
  }
}

/// How a call fails.
struct WayToFail: Sendable, CustomStringConvertible {
  let code: FileSystemError.Code
  var duration = FaultPlan.Duration.once
  var effect = FaultPlan.Effect.none
  /// Not only the calls of one operation are counted and fail.
  var isOfAllCalls = false

  var description: String { "\(code), \(duration), \(effect)" }

  /// The ways that every call fails in.
  static let usual = [
    WayToFail(code: .inputOutput),
    WayToFail(code: .noSpace),
    WayToFail(code: .inputOutput, duration: .forever),
    WayToFail(code: .noSpace, duration: .forever),
    WayToFail(code: .noSpace, effect: .half),
    WayToFail(code: .inputOutput, effect: .whole),
    WayToFail(code: .inputOutput, duration: .forever, isOfAllCalls: true),
  ]

  /// Every other kind of error that a file system is known to give. `noSpace` stands for a full quota too,
  /// `tooManyOpenFiles` for the process's and the system's limit, and `other` for whatever has no name
  /// here: a stale handle of a network's file, a time-out, a call that was interrupted.
  static let unusual: [WayToFail] =
    [
      FileSystemError.Code.permissionDenied, .readOnlyFileSystem, .tooManyOpenFiles, .outOfMemory,
      .unsupported, .other,
    ].flatMap { [WayToFail(code: $0), WayToFail(code: $0, duration: .forever)] } + [
      WayToFail(code: .inputOutput, effect: .half),
      WayToFail(code: .noSpace, duration: .forever, effect: .whole),
      WayToFail(code: .other, duration: .forever, isOfAllCalls: true),
    ]
}
