import Testing

@testable import FaultProgramme

/// Runs a part of `Tests/FaultProgramme/run damage`.
@Suite struct `A store that was damaged` {
  @Test(arguments: [true, false])
  func `a damaged store of the engine shows what was written, or is refused`(isClosed: Bool) throws {
    try lookAtSome(DamageSample.engine(.short, isClosed: isClosed), every: 61)
  }

  @Test(arguments: [true, false])
  func `a damaged store of a graph shows what was saved, or is refused`(isClosed: Bool) throws {
    try lookAtSome(DamageSample.graph(.short, isClosed: isClosed), every: 197)
  }

  private func lookAtSome(_ sample: DamageSample, every step: Int) throws {
    var refusals = 0
    let damages = sample.damages(.short)
    for number in stride(from: 0, to: damages.count, by: step) {
      let sight = try sample.look(at: damages[number], number: number)
      if sight?.outcome == .refused { refusals += 1 }
    }
    #expect(refusals > 5)
  }
}
