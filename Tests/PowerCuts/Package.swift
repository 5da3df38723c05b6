// swift-tools-version: 6.2

import PackageDescription

let heartwood = "Heartwood"

let package = Package(
  name: "HeartwoodPowerCuts",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: heartwood, path: "../..")],
  targets: [
    // What the victim and the checker agree on; no Foundation, as it goes into the machine that is cut off.
    .target(name: "Workload"),
    // The pure part: the network protocol, the record of a disk, what a cut may leave of it.
    .target(name: "Cutting", dependencies: ["Workload"]),
    // What a real file system has left beside what the simulated disk would have.
    .target(
      name: "Comparison",
      dependencies: [
        "Workload",
        .product(name: "HeartwoodFaults", package: heartwood),
        .product(name: "HeartwoodFiles", package: heartwood),
      ]),
    // Runs inside the virtual machine until the power is cut.
    .executableTarget(
      name: "power-cut-victim",
      dependencies: [
        "Workload",
        .product(name: "HeartwoodEngine", package: heartwood),
        .product(name: "HeartwoodFiles", package: heartwood),
      ],
      path: "Sources/Victim"),
    // Runs the machine, serves its disk, cuts, mounts and checks.
    .executableTarget(
      name: "power-cuts",
      dependencies: [
        "Workload", "Cutting", "Comparison",
        .product(name: "HeartwoodFaults", package: heartwood),
        .product(name: "HeartwoodEngine", package: heartwood),
        .product(name: "HeartwoodFiles", package: heartwood),
      ],
      path: "Sources/PowerCuts"),
    .testTarget(name: "CuttingTests", dependencies: ["Cutting", "Workload"]),
    .testTarget(
      name: "ComparisonTests",
      dependencies: ["Comparison", "Workload", .product(name: "HeartwoodFaults", package: heartwood)]),
  ],
  swiftLanguageModes: [.v6]
)
