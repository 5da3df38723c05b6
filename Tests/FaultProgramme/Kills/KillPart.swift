/// Real processes that are killed while they write.
struct KillPart: Part {
  let name = "kills"
  let summary = "processes killed while they write a store on the real file system"

  private static let killsInOnePiece = 10

  func goals(of size: Size) -> [Goal] { [Goal(figure: "kills", count: size == .short ? 50 : 200)] }

  func leastPieces(of size: Size) -> Int { 2 * VictimKind.allCases.count }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    // Every second piece has several processes.
    guard number % 2 == 0 else {
      return Piece(name: "a store of three processes, \(Self.killsInOnePiece) deaths") { figures in
        figures["transactions"] += try CrowdRun(seed: seed &+ UInt64(number)).run(kills: Self.killsInOnePiece)
        figures["kills"] += Self.killsInOnePiece
      }
    }
    let kind = VictimKind.allCases[number / 2 % VictimKind.allCases.count]
    return Piece(name: "\(kind.rawValue) store, \(Self.killsInOnePiece) deaths") { figures in
      let transactions = try KillRun(kind, seed: seed &+ UInt64(number)).run(kills: Self.killsInOnePiece)
      figures["kills"] += Self.killsInOnePiece
      figures["transactions"] += transactions
    }
  }
}
