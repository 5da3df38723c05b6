import HeartwoodFiles
import Testing

@Suite struct `Late calls` {
  private final class Notes {
    var all: [String] = []
  }

  private struct Failure: Error {}

  @Test func `a call is made after the outermost operation of its thread`() {
    let notes = Notes()
    LateCalls.after {
      LateCalls.leave { notes.all.append("outer call") }
      LateCalls.after {
        LateCalls.leave { notes.all.append("inner call") }
        notes.all.append("inner")
      }
      notes.all.append("outer")
    }
    #expect(notes.all == ["inner", "outer", "outer call", "inner call"])
  }

  @Test func `a call is made at once outside of an operation, and inside another call`() {
    let notes = Notes()
    LateCalls.leave { notes.all.append("at once") }
    LateCalls.after {
      LateCalls.leave {
        LateCalls.leave { notes.all.append("nested") }
        notes.all.append("call")
      }
    }
    #expect(notes.all == ["at once", "nested", "call"])
  }

  @Test func `a call is made although the operation throws`() {
    let notes = Notes()
    #expect(throws: Failure.self) {
      try LateCalls.after { () throws(Failure) in
        LateCalls.leave { notes.all.append("call") }
        throw Failure()
      }
    }
    #expect(notes.all == ["call"])
  }
}
