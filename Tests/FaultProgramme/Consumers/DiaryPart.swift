/// Kills the processes of a diary.
struct DiaryPart: Part {
  let name: String
  let summary: String
  let roles: [DiaryRole]

  /// Processes that write a store and consume its history, beside holds, releases, purges and compactions.
  static let consumers = DiaryPart(
    name: "consumers",
    summary: "two writers with a consumer in each, and a process that holds, purges and compacts, killed",
    roles: DiaryKillRun.withHolds)

  /// Processes that ship a store and follow it, beside writers.
  static let followers = DiaryPart(
    name: "followers",
    summary: "two writers, a process that compacts, one that ships and one that follows, killed",
    roles: DiaryKillRun.followed)

  private static let killsInOnePiece = 40

  func goals(of size: Size) -> [Goal] {
    [Goal(figure: "kills", count: [.short: 200, .standard: 1_000][size] ?? 10_000)]
  }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let run = DiaryKillRun(seed: seed &* 1_000_003 &+ UInt64(number), roles: roles)
    return Piece(name: "\(Self.killsInOnePiece) kills") { figures in
      let report = try run.run(kills: Self.killsInOnePiece)
      figures["kills"] += report.kills
      figures["entries"] += report.entries
      figures["acknowledgements"] += report.acknowledgements
    }
  }
}
