import Foundation

/// Two programs that use one store of any kind at the same time.
struct PairPart: Part {
  let name = "pairs"
  let summary =
    "two threads or processes that open, migrate, copy, replace, destroy and save one store of any kind, with kills"

  private static let runsInOnePiece = 20

  func goals(of size: Size) -> [Goal] { [Goal(figure: "pairs", count: size == .short ? 200 : 2_000)] }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    Piece(name: "\(Self.runsInOnePiece) pairs of programs") { figures in
      for place in 0..<Self.runsInOnePiece {
        let seed = seed &+ UInt64(number * Self.runsInOnePiece + place)
        let run = PairRun(seed: seed, program: URL(filePath: CommandLine.arguments[0]))
        do {
          figures["deeds"] += try run.run()
        } catch {
          throw Finding("seed \(seed): \(error)")
        }
        figures["pairs"] += 1
        if run.isKilled { figures["kills"] += 1 }
      }
    }
  }
}
