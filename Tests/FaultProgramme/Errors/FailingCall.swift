import HeartwoodFaults
import HeartwoodFiles

/// One call, identified by its operation and its number among the calls of that operation.
struct FailingCall: Sendable, CustomStringConvertible {
  let calls: FaultPlan.Calls
  let number: Int

  var description: String { "\(calls) \(number)" }

  /// All calls that `body` makes to a file system over `base`, in order of their operations.
  static func all(over base: any FileSystem, _ body: (any FileSystem) throws -> Void) throws -> [FailingCall]
  {
    // These faults never apply. They are used for their counters.
    let kinds = FileSystemError.Operation.allCases.map(FaultPlan.Calls.of)
    let plan = FaultPlan(kinds.map { FaultPlan.Fault($0, occurrence: .max) })
    let fileSystem = FaultInjectingFileSystem(base: base, plan: plan)
    try body(fileSystem)
    return fileSystem.report.lines.flatMap { line in
      (0..<line.calls).map { FailingCall(calls: line.fault.calls, number: $0 + 1) }
    }
  }

  /// The plan in which the call fails in this way.
  func plan(_ way: WayToFail) -> FaultPlan {
    let calls = way.isOfAllCalls ? FaultPlan.Calls.any : calls
    return FaultPlan([
      .init(calls, occurrence: number, code: way.code, duration: way.duration, effect: way.effect)
    ])
  }
}

/// The way in which a call fails.
struct WayToFail: Sendable, CustomStringConvertible {
  let code: FileSystemError.Code
  var duration = FaultPlan.Duration.once
  var effect = FaultPlan.Effect.none
  /// Whether calls of all operations are counted and fail.
  var isOfAllCalls = false

  var description: String { "\(code), \(duration), \(effect)" }

  /// The ways in which every call fails.
  static let usual = [
    WayToFail(code: .inputOutput),
    WayToFail(code: .noSpace),
    WayToFail(code: .inputOutput, duration: .forever),
    WayToFail(code: .noSpace, duration: .forever),
    WayToFail(code: .noSpace, effect: .half),
    WayToFail(code: .inputOutput, effect: .whole),
    WayToFail(code: .inputOutput, duration: .forever, isOfAllCalls: true),
  ]

  /// The other kinds of errors that file systems return. `noSpace` includes exceeded quotas,
  /// `tooManyOpenFiles` the limits of the process and of the system, and `other` all remaining errors: a
  /// stale network file handle, a timeout, an interrupted call.
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
