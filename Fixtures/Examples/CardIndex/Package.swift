// swift-tools-version: 6.2

import PackageDescription

// An engine of one's own, beside ours in our benchmark.
let benchmarks = Target.Dependency.product(name: "EngineBenchmarks", package: "EngineBenchmarks")
let package = Package(
  name: "CardIndex",
  platforms: [.macOS(.v15)],
  dependencies: [.package(path: "../../../Benchmarks/EngineBenchmarks")],
  targets: [
    .target(name: "CardStore", dependencies: [benchmarks]),
    .executableTarget(name: "cards", dependencies: ["CardStore", benchmarks]),
    .testTarget(name: "CardStoreTests", dependencies: ["CardStore", benchmarks]),
  ],
  swiftLanguageModes: [.v6]
)
