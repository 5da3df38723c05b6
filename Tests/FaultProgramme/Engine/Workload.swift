import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The contents of a store.
typealias Rows = [String: [UInt8]]

/// One change in a transaction.
enum Edit: Sendable {
  case put(String, bytes: Int)
  case delete(String)
  case deletePrefix(String)

  var isPut: Bool {
    if case .put = self { true } else { false }
  }

  /// The value depends on the transaction, so that an old value is never mistaken for a new one.
  func apply(to rows: inout Rows, transaction: Int) {
    switch self {
    case .put(let key, let bytes): rows[key] = Self.value(of: key, bytes, transaction)
    case .delete(let key): rows[key] = nil
    case .deletePrefix(let prefix): rows = rows.filter { !$0.key.hasPrefix(prefix) }
    }
  }

  func apply(to transaction: WriteTransaction, number: Int) throws {
    switch self {
    case .put(let key, let bytes): try transaction.put(key, Self.value(of: key, bytes, number))
    case .delete(let key): try transaction.delete(key)
    case .deletePrefix(let prefix): _ = try transaction.deleteRange(.prefix(Array(prefix.utf8)))
    }
  }

  private static func value(of key: String, _ bytes: Int, _ transaction: Int) -> [UInt8] {
    let pattern = Array("\(transaction) \(key) ".utf8)
    var value: [UInt8] = []
    value.reserveCapacity(bytes + pattern.count)
    while value.count < bytes { value.append(contentsOf: pattern) }
    return Array(value.prefix(bytes))
  }
}

/// One step of a workload.
enum Step: Sendable {
  case commit(Durability, [Edit])
  /// A transaction whose closure throws.
  case rollBack([Edit])
  case checkpoint
  /// Reclaims space.
  case reclaim
  /// Backs the store up to a folder next to it, which may contain an earlier backup.
  case backup

  /// Reopens the store with automatic reclamation after commits.
  case reclaimOfPeer
  /// Reopens the store; from now on another process has it open too.
  case otherProcess
  /// The other process commits; without one, this one does.
  case elsewhere(Durability, [Edit])
  /// Closes and reopens the store.
  case reopen
  /// Ends all processes without closing, and opens the store in another one.
  case kill
  /// Same as `kill`, but the new process merges small files.
  case joinFiles
}

/// A named list of steps. It starts by opening the store, which is created if it is missing.
struct Workload: Sendable, CustomStringConvertible {
  let description: String
  /// Steps that run before the workload, without faults.
  let preparation: [Step]
  let steps: [Step]
  /// The faults during the workload.
  let faults: FaultPlan

  init(
    _ description: String, preparation: [Step] = [], _ steps: [Step], faults: FaultPlan = FaultPlan()
  ) {
    self.description = description
    self.preparation = preparation
    self.steps = steps
    self.faults = faults
  }

  static let all = ofOneProcess + [turns]

  /// The workloads that continue after errors. With two processes, the other one can make an additional
  /// generation after a commit with an unknown outcome, which the reference model can't predict. The engine's
  /// own tests cover this case (`A process with a failing call`).
  static let ofOneProcess = [
    creation, inserts, inOrder, changes, checkpoints, deferred, manySmall, roll, deferredRoll, largeValues,
    reopening, longTransactions, smallFiles, fullDisk, reclaiming, backups, givingBack,
  ]

  /// Prepares a disk for the workload and closes the store.
  func prepare(_ fileSystem: any FileSystem, _ reference: ReferenceModel) throws {
    guard !preparation.isEmpty else { return }
    let session = Session(fileSystem, reference: reference)
    try session.run(preparation)
    try session.close()
  }

  static let creation = Workload(
    "creation and first commits",
    [
      .commit(.full, [.put("a", bytes: 5)]),
      .commit(.full, [.put("b", bytes: 100), .put("c", bytes: 1000)]),
    ])

  static let changes = Workload(
    "overwrites, deletes, range deletes, a transaction rolled back",
    preparation: [.commit(.full, names("k", 0..<20, bytes: 60))],
    [
      .commit(.full, [.put("k3", bytes: 61), .put("k4", bytes: 3)]),
      .commit(.full, [.delete("k3"), .delete("k5"), .put("k5", bytes: 700)]),
      .rollBack([.put("k6", bytes: 10), .deletePrefix("k")]),
      .commit(.full, [.deletePrefix("k1")]),
      .commit(.full, [.put("k10", bytes: 5000)]),
    ])

  static let checkpoints = Workload(
    "checkpoints between commits",
    preparation: [.commit(.full, names("k", 0..<150, bytes: 20))],
    [
      .checkpoint,
      .commit(.full, [.put("k77", bytes: 30), .delete("k1")]),
      .checkpoint,
      .commit(.full, [.deletePrefix("k1")]),
      .reopen,
      .commit(.full, [.put("z", bytes: 30)]),
      .checkpoint,
    ])

  static let deferred = Workload(
    "deferred commits between full ones",
    preparation: [.commit(.full, [.put("a", bytes: 30)])],
    [
      .commit(.deferred, [.put("b", bytes: 40)]),
      .commit(.deferred, [.put("c", bytes: 50), .delete("a")]),
      .commit(.full, [.put("d", bytes: 60)]),
      .commit(.deferred, [.put("b", bytes: 41)]),
      .checkpoint,
      .commit(.deferred, [.put("e", bytes: 70)]),
      .reopen,
      .commit(.deferred, [.put("f", bytes: 80)]),
    ])

  static let roll = Workload(
    "the log goes on in another segment",
    preparation: [.commit(.full, names("k", 0..<3, bytes: 15_000))],
    [
      .commit(.full, names("l", 0..<2, bytes: 12_000)),
      .commit(.deferred, [.put("m", bytes: 20)]),
      .commit(.full, [.put("n", bytes: 20), .delete("k1")]),
      .checkpoint,
      .commit(.full, [.put("n", bytes: 21)]),
    ])

  static let deferredRoll = Workload(
    "the log continues in another segment between deferred commits",
    preparation: [.commit(.full, names("k", 0..<3, bytes: 20_000))],
    [
      .commit(.deferred, [.put("l", bytes: 9000)]),
      .commit(.deferred, [.put("m", bytes: 20)]),
      .commit(.full, [.put("n", bytes: 20)]),
      .commit(.deferred, [.put("o", bytes: 30), .delete("k1")]),
      .commit(.deferred, [.put("p", bytes: 40)]),
      .commit(.deferred, [.put("o", bytes: 50)]),
    ])

  static let reopening = Workload(
    "recovery after recovery",
    preparation: [
      .commit(.full, [.put("a", bytes: 30)]), .checkpoint, .commit(.full, [.put("b", bytes: 30)]),
    ],
    [
      .kill,
      .commit(.full, [.put("c", bytes: 40)]),
      .commit(.deferred, [.put("d", bytes: 40)]),
      .kill,
      .reopen,
      .commit(.full, [.delete("c")]),
      .kill,
    ])

  static let longTransactions = Workload(
    "transactions over several segments, one of them rolled back",
    preparation: [.commit(.full, names("k", 0..<10, bytes: 300))],
    [
      .commit(.deferred, [.put("before", bytes: 30)]),
      .rollBack(names("k", 0..<40, bytes: 4000)),
      .commit(.full, [.put("between", bytes: 40)]),
      .commit(.deferred, names("k", 5..<45, bytes: 4100)),
      .rollBack(names("n", 0..<20, bytes: 4000)),
      .kill,
      .commit(.full, names("k", 20..<60, bytes: 3000) + [.deletePrefix("k1")]),
    ])

  static let smallFiles = Workload(
    "small files put together after many recoveries",
    preparation: (0..<3).flatMap { [.commit(.full, names("k\($0)", 0..<5, bytes: 90)), .checkpoint, .kill] },
    [
      .commit(.full, [.put("a", bytes: 40)]),
      .joinFiles,
      .commit(.deferred, [.put("k01", bytes: 40), .delete("k11")]),
      .reopen,
    ])

  static let inserts = Workload(
    "inserts in any order, over several leaves",
    preparation: [.commit(.full, names("a", 0..<30, bytes: 90))],
    [
      .commit(.full, (0..<60).map { .put("k\($0 * 37 % 60)", bytes: 10 + $0) }),
      .commit(.full, (0..<60).map { .put("k\($0 * 23 % 60) of many", bytes: 100) }),
      .checkpoint,
      .commit(.full, (0..<30).map { .put("a\($0) again", bytes: 12) }),
    ])

  static let inOrder = Workload(
    "keys in ascending order, over several leaves and transactions",
    preparation: [.commit(.full, numbered(0..<150))],
    [
      .commit(.full, numbered(150..<300)),
      .rollBack(numbered(300..<500)),
      .commit(.deferred, numbered(300..<305)),
      .commit(
        .full, numbered(305..<400) + [.delete("k1399"), .put("k1003", bytes: 9)] + numbered(400..<410)),
      .checkpoint,
      .kill,
      .commit(.full, numbered(410..<450)),
    ])

  static let manySmall = Workload(
    "many small commits",
    (0..<24).map { .commit($0 % 5 == 4 ? .deferred : .full, [.put("k\($0 % 7)", bytes: 9 + $0)]) })

  static let largeValues = Workload(
    "large values",
    preparation: [.commit(.full, [.put("a", bytes: 30_000)])],
    [
      .commit(.full, [.put("b", bytes: 70_000), .put("c", bytes: 5)]),
      .commit(.full, [.put("a", bytes: 140_000)]),
      .commit(.deferred, [.delete("b")]),
      .checkpoint,
      .commit(.full, [.put("c", bytes: 66_000), .put("a", bytes: 1)]),
    ])

  static let reclaiming = Workload(
    "space reclaimed",
    preparation: (0..<6).map { round in
      .commit(.full, (0..<40).map { .put("k\($0 * (2 * round + 1) % 40)", bytes: 500) })
    },
    [
      .reclaim,
      .commit(.full, [.put("k7", bytes: 60), .delete("k8")]),
      .commit(.deferred, [.deletePrefix("k1")]),
      .reclaim,
      .reopen,
      .commit(.full, [.put("k9", bytes: 61)]),
      .reclaim,
      .kill,
      .reclaim,
    ])

  static let backups = Workload(
    "backups, the next on the one before",
    preparation: [.commit(.full, names("k", 0..<3, bytes: 12_000))],
    [
      .backup,
      .commit(.full, [.put("l", bytes: 30), .delete("k1")]),
      .commit(.deferred, [.put("m", bytes: 900)]),
      .backup,
      .commit(.full, names("n", 0..<2, bytes: 20_000)),
      .commit(.deferred, [.put("o", bytes: 40)]),
      .kill,
      .backup,
      .commit(.full, names("k", 0..<3, bytes: 9000)),
      .reclaim,
      .backup,
      .reopen,
      .backup,
      .commit(.deferred, [.deletePrefix("n")]),
      .backup,
    ])
  static let givingBack = Workload(
    "space reclaimed beside commits",
    preparation: (0..<3).map { round in
      .commit(.full, (0..<40).map { .put("k\($0 * (2 * round + 1) % 40)", bytes: 500) })
    },
    [.reclaimOfPeer]
      + (0..<8).map { round in
        .commit(
          round % 3 == 2 ? .deferred : .full, (0..<25).map { .put("k\(($0 * 7 + round) % 40)", bytes: 700) })
      } + [.commit(.full, [.deletePrefix("k1"), .put("k9", bytes: 60_000)]), .kill]
      + (0..<4).map { .commit(.full, [.put("k9", bytes: 30_000 + $0), .put("k2\($0)", bytes: 10_000)]) })

  static let turns = Workload(
    "two processes that write by turns",
    preparation: [.commit(.full, names("k", 0..<40, bytes: 300))],
    [
      .otherProcess,
      .commit(.full, [.put("a", bytes: 40)]),
      .elsewhere(.full, [.put("b", bytes: 50), .delete("k1")]),
      .commit(.deferred, [.put("a", bytes: 60)]),
      .elsewhere(.deferred, [.deletePrefix("k2")]),
      .elsewhere(.full, [.put("c", bytes: 20_000)]),
      .checkpoint,
      .elsewhere(.deferred, names("l", 0..<3, bytes: 15_000)),
      .commit(.full, [.put("k3", bytes: 9), .delete("l1")]),
      .reclaim,
      .elsewhere(.full, [.put("d", bytes: 70)]),
      .reopen,
      .elsewhere(.deferred, [.put("d", bytes: 71)]),
      .kill,
      .commit(.deferred, [.put("e", bytes: 80)]),
      .elsewhere(.full, [.put("f", bytes: 12), .delete("a")]),
    ])

  static let fullDisk = Workload(
    "a disk that becomes full",
    preparation: [.commit(.full, names("k", 0..<10, bytes: 300))],
    (0..<8).map { .commit(.full, [.put("l\($0)", bytes: 2000 + 3000 * $0)]) } + [
      .checkpoint, .reopen, .commit(.full, [.deletePrefix("l")]), .commit(.full, [.put("m", bytes: 10)]),
    ],
    faults: .fullDisk(after: 70_000))

  /// Keys in ascending order. Some of the values are small enough to be stored in the leaves.
  private static func numbered(_ numbers: Range<Int>) -> [Edit] {
    numbers.map { .put("k\(1000 + $0)", bytes: $0 % 5 == 0 ? 12 : 20) }
  }

  private static func names(_ prefix: String, _ numbers: Range<Int>, bytes: Int) -> [Edit] {
    numbers.map { .put("\(prefix)\($0)", bytes: bytes) }
  }
}
