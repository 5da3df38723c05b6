// A process that saves to a cluster whose servers are killed, and notes what it was told:
//
//   postgres-cluster-worker fill URL
//   postgres-cluster-worker work URL NUMBER LEDGER STOP    saves until the file STOP is there; a line of LEDGER for each save that is there
//   postgres-cluster-worker check URL LEDGER...            compares the store with what all processes were told
//   postgres-cluster-worker follow URL ENTITY              prints what it is told of the saves of others to any store
import Foundation
import Heartwood
import HeartwoodPostgres

let arguments = CommandLine.arguments
guard arguments.count > 2, let url = URL(string: arguments[2]) else {
  print("usage: postgres-cluster-worker fill|work|check|follow URL ...")
  exit(2)
}
switch arguments[1] {
case "fill": try Bank(url).fill()
case "work":
  var worker = try ClusterWorker(
    Bank(url), Int64(arguments[3]) ?? 0, ledger: arguments[4], stop: arguments[5])
  try worker.work()
case "check": exit(try ClusterCheck(Bank(url), ledgers: Array(arguments[3...])).passes() ? 0 : 1)
case "follow": try await Follower(url, arguments[3]).run()
default: exit(2)
}
