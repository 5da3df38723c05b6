import HeartwoodFaults
import HeartwoodFiles

/// Runs a workload with one short read or write. The result must be unaffected.
struct ShortTransfers {
  let prepared: PreparedWorkload

  /// One call and the number of bytes that it transfers.
  struct Transfer: Sendable {
    let fault: FaultPlan.Fault

    init(_ call: FaultPlan.Calls, _ number: Int, to count: Int) {
      fault = .shorten(call, .nth(number), to: count)
    }
  }

  /// Every transfer of the workload, shortened to one byte, to its half, and to all bytes but one; in
  /// addition, every write shortened to zero bytes, once.
  func transfers() throws -> [Transfer] {
    let (disk, reference) = prepared.begin()
    let recorder = RecordingFileSystem(base: disk, operations: [.read, .write])
    try live(recorder, reference)
    var numbers: [FaultPlan.Calls: Int] = [:]
    return recorder.lines.flatMap { line -> [Transfer] in
      let call = line.hasPrefix("read") ? FaultPlan.Calls.read : .write
      numbers[call, default: 0] += 1
      let counts = Set([1, Self.length(in: line) / 2, Self.length(in: line) - 1]).filter { $0 > 0 }.sorted()
      return (counts + (call == .write ? [0] : [])).map { Transfer(call, numbers[call] ?? 0, to: $0) }
    }
  }

  func run(_ transfer: Transfer) throws {
    let (disk, reference) = prepared.begin()
    let fileSystem = FaultInjectingFileSystem(base: disk, plan: [transfer.fault])
    do {
      let newest = try live(fileSystem, reference)
      try fileSystem.checkAllWasMet()
      let generation = try StoreChecker(promise: reference.now).check(disk)
      try require(generation == newest, "generation \(generation) is found, not \(newest)")
    } catch { throw Finding("\(transfer.fault): \(error)") }
  }

  /// Runs the workload on a disk that transfers only a few bytes at a time.
  func runAll(largestRead: Int, largestWrite: Int) throws {
    let (disk, reference) = prepared.begin()
    let plan = FaultPlan(largestRead: largestRead, largestWrite: largestWrite)
    try live(FaultInjectingFileSystem(base: disk, plan: plan), reference)
    try StoreChecker(promise: reference.now).check(disk)
  }

  /// Returns the last generation.
  @discardableResult
  private func live(_ fileSystem: any FileSystem, _ reference: ReferenceModel) throws -> Int {
    let session = Session(fileSystem, reference: reference)
    try session.run(prepared.workload.steps)
    let newest = session.newestGeneration
    try session.close()
    return newest
  }

  /// Parses the length from a line such as "write /store/anchor 0..<512".
  private static func length(in line: String) -> Int {
    let numbers = (line.split(separator: " ").last ?? "").split(separator: "..<").compactMap { Int($0) }
    return numbers.count == 2 ? numbers[1] - numbers[0] : 1
  }
}
