/// Kills real processes while they write.
struct KillPart: Part {
  let name = "kills"
  let summary = "processes killed while they write a store on the real file system"

  private static let killsInOnePiece = 10

  func goals(of size: Size) -> [Goal] { [Goal(figure: "kills", count: size == .short ? 50 : 200)] }

  func leastPieces(of size: Size) -> Int { VictimKind.allCases.count }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let kind = VictimKind.allCases[number % VictimKind.allCases.count]
    return Piece(name: "\(kind.rawValue) store, \(Self.killsInOnePiece) deaths") { figures in
      let transactions = try KillRun(kind, seed: seed &+ UInt64(number)).run(kills: Self.killsInOnePiece)
      figures["kills"] += Self.killsInOnePiece
      figures["transactions"] += transactions
    }
  }
}
