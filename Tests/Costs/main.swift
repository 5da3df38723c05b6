import Foundation
import Heartwood

// One kind of work on some objects, `Costs ROW COUNT`, whose instructions `Tests/Costs/run` counts: those of the function `measured`, on this
// thread. What it needs is made before. `Costs` alone lists the rows.

/// The function whose instructions are counted: `run` has the name that the compiler gives it.
@inline(never)
func measured() { work.perform() }

/// The work of the row.
nonisolated(unsafe) var work = Work {}

struct Work {
  let body: () throws -> Void

  init(_ body: @escaping () throws -> Void) { self.body = body }

  func perform() {
    do {
      try body()
    } catch {
      fail("\(error)")
    }
  }
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("\(message)\n".utf8))
  exit(1)
}

let arguments = CommandLine.arguments.dropFirst()
guard let name = arguments.first else {
  print(Row.allCases.map(\.rawValue).joined(separator: "\n"))
  exit(0)
}
guard let row = Row(rawValue: name), let count = arguments.dropFirst().first.flatMap({ Int($0) }), count > 0
else {
  fail("usage: Costs ROW COUNT; the rows are \(Row.allCases.map(\.rawValue).joined(separator: ", "))")
}
do {
  work = try Firm(count).work(row)
} catch {
  fail("\(error)")
}
measured()
