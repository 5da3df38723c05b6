import Foundation
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

@Suite struct `The history's times` {
  @Test func `the history has the time of a save from the store's clock`() throws {
    var options = GraphSession.options
    options.clock = SimulatedClock(nanosecondsSince1970: -86_400_000_000_000)
    let container = try GraphSession.open(MemoryFileSystem(), options: options)
    let context = container.newBackgroundContext()
    _ = GraphWorkload.makeBook("1", in: context)
    try context.save()
    #expect(try container.history().map(\.timestamp) == [Date(timeIntervalSince1970: -86_400)])
  }
}
