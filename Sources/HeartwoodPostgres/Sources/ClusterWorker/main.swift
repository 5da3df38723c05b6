// A process that saves to a cluster whose servers are killed, and notes what it was told:
//
//   postgres-cluster-worker fill URL
//   postgres-cluster-worker work URL NUMBER LEDGER STOP    saves until the file STOP is there; a line of LEDGER for each save that is there
//   postgres-cluster-worker check URL LEDGER...            compares the store with what all processes were told
import Foundation
import Heartwood
import HeartwoodPostgres

let arguments = CommandLine.arguments
guard arguments.count > 2, let url = URL(string: arguments[2]) else {
  print("usage: postgres-cluster-worker fill|work|check URL ...")
  exit(2)
}
let bank = try Bank(url)
switch arguments[1] {
case "fill": try bank.fill()
case "work":
  var worker = try ClusterWorker(
    bank, Int64(arguments[3]) ?? 0, ledger: arguments[4], stop: arguments[5])
  try worker.work()
case "check": exit(try ClusterCheck(bank, ledgers: Array(arguments[3...])).passes() ? 0 : 1)
default: exit(2)
}
