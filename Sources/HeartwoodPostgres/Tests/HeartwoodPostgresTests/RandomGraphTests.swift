import Foundation
import Heartwood
import Testing

/// The random work of the other kinds of stores, against a plain model.
@Suite struct `Random work on a graph in PostgreSQL` {
  @Test(arguments: [41, 42, 43] as [UInt64])
  func `a graph in a database matches a plain model over saves, rollbacks and reopening`(seed: UInt64) throws
  {
    let url = try PostgresServer.shared.get().url()
    let open = { try PostgresWorld(at: url).container }
    var work = GraphWork(seed: seed, container: try open(), reopen: open)
    try work.run(steps: 300)
  }
}
