import Foundation

/// Runs a victim in a virtual machine, cuts its power, and checks the remaining store.
@main
struct PowerCuts {
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      if words.first == "check" { return try StoreCheck.main(Array(words.dropFirst())) }
      let campaign = try Campaign(try Arguments(words))
      exit(try campaign.run() ? 0 : 1)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(2)
    }
  }
}
