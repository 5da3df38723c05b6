// Entry points of libFuzzer. Built by `run`.
import Foundation

/// The target that `HEARTWOOD_FUZZ_TARGET` names.
private let target: FuzzTarget = {
  let name = ProcessInfo.processInfo.environment["HEARTWOOD_FUZZ_TARGET"] ?? ""
  guard let target = FuzzTarget(rawValue: name) else {
    fatalError("HEARTWOOD_FUZZ_TARGET is one of \(FuzzTarget.allCases.map(\.rawValue))")
  }
  return target
}()

/// Writes the initial inputs to the folder that `HEARTWOOD_FUZZ_SEEDS` names.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_: UnsafeMutablePointer<Int32>, _: UnsafeMutableRawPointer) -> Int32 {
  guard let folder = ProcessInfo.processInfo.environment["HEARTWOOD_FUZZ_SEEDS"] else { return 0 }
  for (number, seed) in target.seeds.enumerated() {
    try? Data(seed).write(to: URL(filePath: folder).appending(path: "seed-\(number)"))
  }
  return 0
}

/// Runs the target with an input. A finding ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
  if let finding = target.finding(bytes) { fatalError(finding) }
  return 0
}
