import HeartwoodFaults
import HeartwoodFiles
import XCTest

/// The package used from XCTest: thrown errors fail a test there too.
final class XCTestTests: XCTestCase {
  func testAnExplorationChecksItself() throws {
    let report = try CrashExplorer(seed: 1).run(acknowledging: Int.self) { fileSystem, acknowledge in
      let directory = try fileSystem.openDirectory("/")
      let file = try directory.open("a", .createNew)
      try directory.sync()
      for number in 1...3 {
        try file.write([UInt8(number)], at: Int64(number - 1))
        try file.sync(.data)
        acknowledge(number)
      }
    } verify: { fileSystem, acknowledged in
      let found = try fileSystem.files()["a"] ?? []
      XCTAssertEqual(found.prefix(acknowledged.count).map(Int.init), acknowledged)
    }
    XCTAssertNoThrow(try report.check())
    XCTAssertEqual(report.calls, 8)
  }

  func testAFaultThatNeverHappenedThrows() {
    XCTAssertThrowsError(try FaultPlan([.fail(.rename)]).run(over: MemoryFileSystem()) { _ in })
  }
}
