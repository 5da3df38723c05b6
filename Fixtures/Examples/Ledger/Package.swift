// swift-tools-version: 6.2

import PackageDescription

// An application's own rules, tested on disks that fail.
func product(_ name: String) -> Target.Dependency { .product(name: name, package: "heartwood") }
let package = Package(
  name: "Ledger",
  platforms: [.macOS(.v15)],
  products: [.library(name: "Ledger", targets: ["Ledger"])],
  dependencies: [.package(name: "heartwood", path: "../../..")],
  targets: [
    .target(name: "Ledger", dependencies: [product("Heartwood"), product("HeartwoodEngine")]),
    .testTarget(
      name: "LedgerTests",
      dependencies: [
        "Ledger", product("Heartwood"), product("HeartwoodEngine"), product("HeartwoodFaults"),
        product("HeartwoodFiles"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
