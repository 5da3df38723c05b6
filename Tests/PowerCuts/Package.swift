// swift-tools-version: 6.2

import PackageDescription

let heartwood = "Heartwood"

let package = Package(
  name: "HeartwoodPowerCuts",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: heartwood, path: "../..")],
  targets: [
    // Shared by the victim and the checker. Does not import Foundation, because it runs in the virtual
    // machine.
    .target(name: "Workload"),
    // Without input or output: the network protocol, the record of a disk, and the images that a cut can
    // leave.
    .target(name: "Cutting", dependencies: ["Workload"]),
    // Compares the results of real file systems with those of the simulated disk.
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
    // Runs the machine, serves its disk, cuts the power, mounts the images and checks them.
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
