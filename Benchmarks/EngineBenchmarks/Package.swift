// swift-tools-version: 6.2

import PackageDescription

// The rows of keys and values, for Heartwood's engine and engines of one's own: no peer's library is needed.
let package = Package(
  name: "EngineBenchmarks",
  platforms: [.macOS(.v15)],
  products: [.library(name: "EngineBenchmarks", targets: ["EngineBenchmarks", "BenchmarkHarness"])],
  dependencies: [.package(name: "Heartwood", path: "../..")],
  targets: [
    .target(
      name: "EngineBenchmarks",
      dependencies: ["BenchmarkHarness", .product(name: "HeartwoodEngine", package: "Heartwood")]),
    .target(name: "BenchmarkHarness"),
  ],
  swiftLanguageModes: [.v6]
)
